// Fetches the WebAssembly engine into a Worker.
import type { FromWorker, LinesOrder } from './messages';
import type { EngineModule } from './module';

const engineAt = new URL('/engine/weft_engine.mjs', self.location.href).href;

export class EngineMissing extends Error {}

export async function loadEngine(onEvent: (event: FromWorker) => void, onLines: (order: LinesOrder) => void): Promise<EngineModule> {
  const { default: create } = await (import(/* @vite-ignore */ engineAt) as Promise<Imported>).catch(why);
  return create({ onEvent, onLines });
}

type Imported = { readonly default: (options: { onEvent: (event: FromWorker) => void; onLines: (order: LinesOrder) => void }) => Promise<EngineModule> };

/** Finds out whether the file is missing or broken, because a failed import() does not tell it. */
async function why(error: unknown): Promise<never> {
  const there = await fetch(engineAt, { method: 'HEAD' });
  if (!there.ok || !(there.headers.get('content-type') ?? '').includes('javascript')) {
    throw new EngineMissing(`${new URL(engineAt).pathname} answered ${there.status}.`);
  }
  throw error;
}
