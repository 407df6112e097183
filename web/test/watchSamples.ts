// Complete messages of /v1/watch, from which a test changes only the fields that it is about.
import type { WatchedJob } from '../src/features/dashboard/tasks';
import type { Delta, Snapshot } from '../src/wire/watch';

export const job = (change: Partial<WatchedJob> = {}): WatchedJob => ({
  id: 'a', state: 'running', tasks: 4, replicas: 1, counts: [4, 0, 0, 0, 0], refusals: 0,
  price: 0, units: 0, created: 1, ended: 0, mapped: true,
  map: { first: [], count: [], state: '', packed: '' }, ...change,
});

export const worker = (number: number): Snapshot['workers'][number] => ({
  number, key: `Key${number}xxxxxxxxxx`, kind: number % 2 === 0 ? 'browser' : 'native', device: 'gpu', description: 'RTX', f32_gflop_per_s: 1, since: 0,
});

/** Rows of [number, held]. */
export const loads = (...rows: readonly (readonly [number, number])[]): Snapshot['loads'] => ({
  number: rows.map(([number]) => number),
  held: rows.map(([, held]) => held),
  slots: rows.map(() => 8),
  accepted: rows.map(([number]) => number * 10),
  refused: rows.map(() => 0),
  rate: rows.map(() => 0.5),
  round_trip_ms: rows.map(([number]) => number * 10),
});

export const history = (seconds: readonly number[]): Snapshot['history'] => ({
  time: seconds.map((second) => second * 1000),
  accepted: seconds.map(() => 12),
  refused: seconds.map(() => 1),
  paid: seconds.map(() => 100),
  latency_ms: seconds.map(() => 40),
  latency_high_ms: seconds.map(() => 90),
  workers: seconds.map(() => 2),
  open: seconds.map(() => 3),
  per_unit: seconds.map(() => 1_500_000),
});

export const snapshot = (change: Partial<Snapshot> = {}): Snapshot => ({
  type: 'snapshot', sequence: 7, time: 0, jobs_running: 1, jobs: [], workers: [], loads: loads(), history: history([]), ...change,
});

export const delta = ({ second, ...change }: Partial<Delta> & { second?: number } = {}): Delta => ({
  type: 'delta', sequence: 8, time: 0, jobs_running: 1, jobs: [], jobs_gone: [], joined: [], left: [], loads: loads(),
  history: history(second === undefined ? [] : [second]), ...change,
});
