import type { Port } from './engine';

/** Makes the real Worker; tests give Engine another Port. */
export function createEngineWorker(): Port {
  return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'weft-engine' }) as Port;
}
