// Complete documents of the HTTP interface, from which a test changes only the fields that it is
// about.
import type { Job, Worker } from '../src/features/network/api';
import type { GpuCounters } from '../src/engine/gpuCounters';

export const job: Job = {
  id: 'aa', name: 'mandelbrot', kind: 'wgsl', client: 'C', state: 'running', reason: '', tasks: 64, accepted: 16, leased: 4, replicas: 2,
  budget: 1000, price: 0, per_unit: 0, price_quoted: 0, max_price: 0, root: '', outputs: [], created: 0, ended: 0, decided: '', corrected: 0, unchecked: 0, refunded: 0, corrections: [], link: '',
  waiting: { reason: '', detail: '', task: 0, able: 0, position: 0, seconds: 0, lacks: [] },
};

export const worker: Worker = {
  key: 'Own111', kind: 'browser', device: 'gpu', description: 'RTX', connected: true, slots: 1, held: 1, accepted: 3, refused: 0,
  balance: 1_500_000, held_pay: 0, price_min: 0, f32_gflop_per_s: 0, copy_gb_per_s: 0, since: 0,
};

/** Counters of an engine that did nothing yet. */
export const emptyCounters: GpuCounters = {
  now: 0, watching: true, timestamps: true,
  totals: { dispatches: 0, passes: 0, submits: 0, copies: 0, copiedBytes: 0, writes: 0, writtenBytes: 0, reads: 0, readBytes: 0, readSeconds: 0, pipelines: 0 },
  bytes: 0, bytesPeak: 0, buffers: [], purposes: [], kernels: [], spans: [],
};
