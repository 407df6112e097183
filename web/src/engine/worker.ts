// The dedicated Worker of the engine. It loads the WebAssembly only when the user starts the engine or asks for the wallet's key. It reads
// the address of an existing wallet without the WebAssembly.
import type { EngineModule } from './module';
import { EngineMissing, loadEngine } from './loadEngine';
import type { DeviceKind, FromWorker, KnownRates, Limits, ToWorker } from './messages';
import { keptWallet } from './keptWallet';

function say(message: FromWorker): void {
  self.postMessage(message);
}
const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

let loading: Promise<EngineModule> | null = null;
function engine(): Promise<EngineModule> {
  loading ??= loadEngine(say, (order) => say({ type: 'lines', order })).catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

let limits: Limits = { share: 1, memoryBytes: null, slices: 1, relayOnly: false, priceMin: 0, pausedBy: [] };
function obey(module: EngineModule): void {
  module.throttle(limits.share);
  if (limits.pausedBy.length > 0) module.pause();
  else module.resume();
}

const usageEveryMs = 1000;
let watching: ReturnType<typeof setInterval> | undefined;
function sayUsage(module: EngineModule): void {
  const { held, heapBytes, serving } = module.stats();
  say({ type: 'usage', usage: { memoryBytes: heapBytes + module.gpuWatch.read().bytes, held, serving } });
}

async function start(coordinator: string, device: DeviceKind, known: KnownRates | null): Promise<void> {
  const module = await engine();
  obey(module);
  module.start({ coordinator, device, known, slices: limits.slices, priceMin: limits.priceMin, ...(limits.memoryBytes === null ? {} : { memoryBytes: limits.memoryBytes }) });
  watching ??= setInterval(() => sayUsage(module), usageEveryMs);
}

/** Turns an error of a wallet that cannot be read or set into a refusal, so that the work goes on. */
async function orRefuse(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    say({ type: 'wallet-refused', message: sentence(error) });
  }
}

async function handle(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'start':
      say({ type: 'loading' });
      limits = message.limits;
      await start(message.coordinator, message.device, message.known);
      return;
    case 'limits':
      limits = message.limits;
      if (loading !== null) obey(await loading);
      return;
    case 'stop':
      if (loading === null) say({ type: 'stopped' });
      else (await loading).stop();
      return;
    case 'wake':
      if (loading !== null) (await loading).wake();
      return;
    case 'gpu': {
      const watch = loading === null ? null : (await loading).gpuWatch;
      if (watch !== null && watch.read().watching !== message.watch) watch.watch(message.watch);
      say({ type: 'gpu', counters: watch === null ? null : watch.read() });
      return;
    }
    case 'line':
      if (loading !== null) (await loading).lines(message.news);
      return;
    case 'wallet-show': {
      const wallet = await keptWallet();
      if (wallet !== null) say({ type: 'wallet', ...wallet });
      return;
    }
    case 'wallet-export': {
      const module = await engine();
      await orRefuse(async () => say({ type: 'wallet-file', numbers: await module.exportWallet() }));
      return;
    }
    case 'wallet-import': {
      const module = await engine();
      await orRefuse(async () => say({ type: 'wallet', address: await module.importWallet([...message.numbers]), savable: false }));
      return;
    }
  }
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  handle(event.data).catch((error: unknown) => {
    say({ type: 'failed', code: error instanceof EngineMissing ? 'engine-missing' : 'engine-broken', message: sentence(error) });
  });
};
