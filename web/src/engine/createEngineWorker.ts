import type { Port } from './engine';

/** The real thing; tests pass their own Port to Engine. */
export function createEngineWorker(): Port {
  return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'weft-engine' }) as Port;
}
