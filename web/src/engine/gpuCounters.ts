// The counters of an engine's devices, from src/engine/gpu/web/watch.js, and the list of engines that have counters. All values are
// measured; a value that a device cannot measure is absent (such as its own clock without timestamp queries).

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
/** A part of a timeline; times are milliseconds of the Worker's clock. */
export type Span = { readonly lane: Lane; readonly label: string; readonly from: number; readonly to: number; readonly bytes?: number };
export type GpuBuffers = { readonly label: string; readonly usage: number; readonly count: number; readonly bytes: number };
/** The buffers of one purpose; `bytesPeak` is the most bytes that the purpose ever had. */
export type GpuPurpose = { readonly name: string; readonly count: number; readonly bytes: number; readonly bytesPeak: number };
export type GpuKernel = { readonly name: string; readonly dispatches: number; readonly timedDispatches: number; readonly seconds: number };
export type GpuCounters = {
  readonly now: number;
  readonly watching: boolean;
  /** Null until a device has worked while it was watched. */
  readonly timestamps: boolean | null;
  readonly totals: GpuTotals;
  readonly bytes: number;
  readonly bytesPeak: number;
  /** The buffers that exist now. */
  readonly buffers: readonly GpuBuffers[];
  readonly purposes: readonly GpuPurpose[];
  readonly kernels: readonly GpuKernel[];
  readonly spans: readonly Span[];
};
/** The interface of Module.gpuWatch in every WebAssembly module with GPU devices. */
export type GpuWatch = { watch(on: boolean): void; read(): GpuCounters };

/** The measured limits of a device, in operations and bytes a second. */
export type Roofs = { readonly bytesPerSecond: number; readonly operationsPerSecond: number; readonly what: string };
/** One run with its work: the bytes are those of the manifest, the operations those that the author or the kernel gives. */
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
  /** Returns null while no module with counters is loaded. */
  counters(watch: boolean): Promise<GpuCounters | null>;
  /** Measures the roofs, which keeps the device busy for a moment, unless `roofsAreKnown`. */
  readonly roofs?: () => Promise<Roofs | null>;
  readonly roofsAreKnown?: boolean;
  readonly runs?: () => readonly Run[];
};

const sources = new Map<string, GpuSource>();
const listeners = new Set<() => void>();
let listed: readonly GpuSource[] = [];

/** Adds a source and returns a function that removes it. A source with the same name is replaced. */
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
