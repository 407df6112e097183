// What an engine's devices do, as src/engine/gpu/web/watch.js counts it, and who can be asked. Everything is measured: what a device
// cannot measure (its own clock, where it has no timestamp queries) is absent.

export type GpuTotals = {
  readonly dispatches: number;
  readonly passes: number;
  readonly submits: number;
  readonly copies: number;
  readonly copiedBytes: number;
  readonly writes: number;
  readonly writtenBytes: number;
  readonly reads: number;
  readonly readBytes: number;
  readonly readSeconds: number;
  readonly pipelines: number;
};
export type Lane = 'compile' | 'write' | 'queue' | 'read';
/** Milliseconds of the Worker's own clock. */
export type Span = { readonly lane: Lane; readonly label: string; readonly from: number; readonly to: number; readonly bytes?: number };
export type GpuBuffers = { readonly label: string; readonly usage: number; readonly count: number; readonly bytes: number };
/** What buffers are for; `bytesPeak` is the most that one purpose ever held. */
export type GpuPurpose = { readonly name: string; readonly count: number; readonly bytes: number; readonly bytesPeak: number };
export type GpuKernel = { readonly name: string; readonly dispatches: number; readonly timedDispatches: number; readonly seconds: number };
export type GpuCounters = {
  readonly now: number;
  readonly watching: boolean;
  /** Null until a device was watched at work. */
  readonly timestamps: boolean | null;
  readonly totals: GpuTotals;
  readonly bytes: number;
  readonly bytesPeak: number;
  /** Those that exist now. */
  readonly buffers: readonly GpuBuffers[];
  readonly purposes: readonly GpuPurpose[];
  readonly kernels: readonly GpuKernel[];
  readonly spans: readonly Span[];
};
/** Module.gpuWatch of every WebAssembly module that has devices. */
export type GpuWatch = { watch(on: boolean): void; read(): GpuCounters };

/** The compute roofs of a device, measured; operations and bytes a second. */
export type Roofs = { readonly bytesPerSecond: number; readonly operationsPerSecond: number; readonly what: string };
/** One run with what it had to do: the bytes by its manifest, the operations by its author or kernel. */
export type Run = {
  readonly name: string;
  readonly bytes: number;
  readonly operations: number | null;
  readonly seconds: number;
  readonly byTimestamps: boolean;
};

/** An engine that the DevTools panel can look at. */
export type GpuSource = {
  readonly name: string;
  /** Null while nothing is loaded that could be counted. */
  counters(watch: boolean): Promise<GpuCounters | null>;
  /** Measures them, which keeps the device busy for a moment, unless `roofsAreKnown`. */
  readonly roofs?: () => Promise<Roofs | null>;
  readonly roofsAreKnown?: boolean;
  readonly runs?: () => readonly Run[];
};

const sources = new Map<string, GpuSource>();
const listeners = new Set<() => void>();
let listed: readonly GpuSource[] = [];

/** Returns what takes it away again. A source of the same name is replaced. */
export function offerGpuSource(source: GpuSource): () => void {
  const tell = () => {
    listed = [...sources.values()];
    for (const listener of listeners) listener();
  };
  sources.set(source.name, source);
  tell();
  return () => {
    if (sources.get(source.name) !== source) return;
    sources.delete(source.name);
    tell();
  };
}

export const gpuSources = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  snapshot: (): readonly GpuSource[] => listed,
};
