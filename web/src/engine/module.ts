// The interface of the engine's WebAssembly module, which src/apps/worker/web/README.md describes. Its events are FromWorker messages.
import type { GpuWatch } from './gpuCounters';
import type { CompileMessage, LabDevice, LabRates, LabRun, SignedRequest } from './labMessages';
import type { DeviceKind, KnownRates, LineNews, Usage } from './messages';

export type EngineModule = {
  start(options: { coordinator: string; device: DeviceKind; slots?: number; memoryBytes?: number; slices?: number; priceMin?: number; known?: KnownRates | null }): void;
  stop(): void;
  pause(): void;
  resume(): void;
  throttle(share: number): void;
  stats(): { readonly held: number; readonly heapBytes: number; readonly serving: Usage['serving'] };
  wake(): void;
  lines(news: LineNews): void;
  exportWallet(): Promise<readonly number[]>;
  importWallet(numbers: readonly number[]): Promise<string>;
  signRequest(request: string): Promise<SignedRequest>;
  readonly lab: {
    open(): Promise<LabDevice>;
    measure(): Promise<LabRates>;
    compile(wgsl: string): Promise<{ messages: readonly CompileMessage[] }>;
    check(manifest: string): Promise<object>;
    run(manifest: string, options?: { cpu?: boolean }): Promise<LabRun>;
  };
  readonly gpuWatch: GpuWatch;
};
