// From an engine's counters to what the panel shows. Pure. Only what was measured comes out; what was not is null or left out.
import type { GpuBuffers, GpuCounters, Lane, Roofs, Run, Span } from '../../engine/gpuCounters';

export const lanes: readonly Lane[] = ['compile', 'write', 'queue', 'read'];
export const laneNames: Record<Lane, string> = { compile: 'Compile', write: 'Write', queue: 'Queue', read: 'Read back' };
export const laneHints: Record<Lane, string> = {
  compile: 'pipelines being made',
  write: 'bytes handed to the queue',
  queue: 'from a submit until its work is done, wall clock',
  read: 'from asking for a buffer until its bytes are here',
};

export type LaneUse = { readonly lane: Lane; readonly spans: readonly Span[]; readonly share: number };

/** Time in which a lane had anything to do over the last `windowMs`, as a share: overlapping spans count once. */
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

/** Those that took longest first; then those that were counted but not timed. */
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

const usage = { mapRead: 0x1, uniform: 0x40, storage: 0x80, queryResolve: 0x200 } as const;

/** What a buffer is for, by how it may be used. */
export function purposeOf(buffer: GpuBuffers): string {
  if (buffer.usage & usage.queryResolve || buffer.label === 'timer' || buffer.label === 'watch') return 'Clocks';
  if (buffer.usage & usage.mapRead) return 'Read back';
  if (buffer.usage & usage.uniform) return 'Uniforms';
  return buffer.usage & usage.storage ? 'Storage' : 'Other';
}

export type Purpose = { readonly name: string; readonly bytes: number; readonly count: number; readonly labels: readonly GpuBuffers[] };

export function memoryByPurpose(counters: GpuCounters): readonly Purpose[] {
  const found = new Map<string, GpuBuffers[]>();
  for (const buffer of counters.buffers) {
    const name = purposeOf(buffer);
    found.set(name, [...(found.get(name) ?? []), buffer]);
  }
  return [...found.entries()]
    .map(([name, labels]) => ({
      name,
      labels: labels.sort((a, b) => b.bytes - a.bytes),
      bytes: labels.reduce((sum, one) => sum + one.bytes, 0),
      count: labels.reduce((sum, one) => sum + one.count, 0),
    }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** Williams, Waterman and Patterson, "Roofline", CACM 52 (2009): attainable rate = min(peak, bandwidth x intensity). */
export function attainable(roofs: Roofs, intensity: number): number {
  return Math.min(roofs.operationsPerSecond, roofs.bytesPerSecond * intensity);
}

export type RooflinePoint = { readonly run: Run; readonly intensity: number; readonly rate: number; readonly share: number };

/** Runs whose operations are known; the others have no place on the plot. */
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
