// Computes what the panel shows from an engine's counters. Pure. A value that was not measured is null or absent.
import type { GpuBuffers, GpuCounters, GpuPurpose, Lane, Roofs, Run, Span } from '../../engine/gpuCounters';

export const lanes: readonly Lane[] = ['compile', 'write', 'queue', 'read'];
export const laneNames: Record<Lane, string> = { compile: 'Compile', write: 'Write', queue: 'Queue', read: 'Read back' };
export const laneHints: Record<Lane, string> = {
  compile: 'pipelines being made',
  write: 'bytes handed to the queue',
  queue: 'from a submit until its work is done, wall clock',
  read: 'from asking for a buffer until its bytes are here, the work before it included',
};

export type LaneUse = { readonly lane: Lane; readonly spans: readonly Span[]; readonly share: number };

/** Returns the share of the last `windowMs` in which each lane was busy; overlapping spans count once. */
export function laneUse(counters: GpuCounters, windowMs: number): readonly LaneUse[] {
  const from = counters.now - windowMs;
  return lanes.map((lane) => {
    const spans = counters.spans.filter((span) => span.lane === lane && span.to > from).sort((a, b) => a.from - b.from);
    let busy = 0;
    let end = from;
    for (const span of spans) {
      busy += Math.max(0, span.to - Math.max(span.from, end));
      end = Math.max(end, span.to);
    }
    return { lane, spans, share: Math.min(1, busy / windowMs) };
  });
}

export type KernelRow = { readonly name: string; readonly dispatches: number; readonly seconds: number | null; readonly secondsEach: number | null };

/** Returns the kernels, those with the longest time first, then those that were counted but not timed. */
export function kernelRows(counters: GpuCounters): readonly KernelRow[] {
  return counters.kernels
    .map(({ name, dispatches, timedDispatches, seconds }) => ({
      name,
      dispatches,
      seconds: timedDispatches > 0 ? seconds : null,
      secondsEach: timedDispatches > 0 ? seconds / timedDispatches : null,
    }))
    .sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1) || b.dispatches - a.dispatches);
}

export type PurposeRow = GpuPurpose & { readonly labels: readonly GpuBuffers[] };

/** Returns the purposes, the largest first, with the labels of the buffers that exist now. */
export function memoryByPurpose(counters: GpuCounters): readonly PurposeRow[] {
  return counters.purposes
    .map((purpose) => ({ ...purpose, labels: counters.buffers.filter((one) => purposeOf(one) === purpose.name).sort((one, other) => other.bytes - one.bytes) }))
    .sort((a, b) => b.bytesPeak - a.bytesPeak);
}

// Returns the purpose of a buffer by WebGPU's usage bits, as watch.js does.
function purposeOf({ usage, label }: GpuBuffers): string {
  if (usage & 0x200 || label === 'timer') return 'clocks';
  if (usage & 0x1) return 'read back';
  if (usage & 0x40) return 'uniforms';
  return usage & 0x80 ? 'storage' : 'other';
}

/** The attainable rate by Williams, Waterman and Patterson, "Roofline", CACM 52 (2009): min(peak, bandwidth x intensity). */
export function attainable(roofs: Roofs, intensity: number): number {
  return Math.min(roofs.operationsPerSecond, roofs.bytesPerSecond * intensity);
}

export type RooflinePoint = { readonly run: Run; readonly intensity: number; readonly rate: number; readonly share: number };

/** Returns the points of runs whose operations are known; other runs cannot be plotted. */
export function rooflinePoints(runs: readonly Run[], roofs: Roofs): readonly RooflinePoint[] {
  const points: RooflinePoint[] = [];
  for (const run of runs) {
    if (run.operations === null || run.operations <= 0 || run.bytes <= 0 || !(run.seconds > 0)) continue;
    const intensity = run.operations / run.bytes;
    const rate = run.operations / run.seconds;
    points.push({ run, intensity, rate, share: rate / attainable(roofs, intensity) });
  }
  return points;
}
