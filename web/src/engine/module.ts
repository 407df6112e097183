// The engine's own interface, as src/apps/worker/web/README.md gives it. Its events are FromWorker messages.
import type { DeviceKind, LineNews } from './messages';

export type EngineModule = {
  start(options: { coordinator: string; device: DeviceKind; slots?: number }): void;
  stop(): void;
  wake(): void;
  lines(news: LineNews): void;
  exportWallet(): Promise<readonly number[]>;
  importWallet(numbers: readonly number[]): Promise<string>;
};
