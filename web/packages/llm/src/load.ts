// load() starts a Worker, gives it the source, and waits until the model is loaded.
import { CancelledError, CrashedError, errorFrom, WeftError } from './errors.js';
import type { EngineLoadOptions, FromWorker, WorkerSource } from './messages.js';
import { Model, type Port } from './model.js';
import type { LoadOptions, Source } from './types.js';

/** How long a Worker may take to save its download after its load was cancelled, in milliseconds. */
const abortMsMax = 2000;

function here(): string {
  return globalThis.document?.baseURI ?? globalThis.location.href;
}

function workerSource(source: Source, { cache = true, sha256 }: LoadOptions): WorkerSource {
  if (source instanceof Blob) return { kind: 'blob', blob: source };
  if (source instanceof Uint8Array) return { kind: 'bytes', bytes: source };
  if (source instanceof ArrayBuffer) return { kind: 'bytes', bytes: new Uint8Array(source) };
  if (!URL.canParse(source, here())) throw new WeftError('invalid_argument', `'${source}' is not an address of a model.`);
  return { kind: 'url', url: new URL(source, here()).href, cache, sha256: sha256?.toLowerCase() ?? null };
}

function engineOptions({ device, kv, activations, context, sequences }: LoadOptions): EngineLoadOptions {
  return {
    ...(device === undefined ? {} : { device }),
    ...(kv === undefined ? {} : { kv }),
    ...(activations === undefined ? {} : { activations }),
    ...(context === undefined ? {} : { context }),
    ...(sequences === undefined ? {} : { sequences }),
  };
}

/** Loads a model. Before this call no file is fetched and no Worker is made. Rejects with a WeftError. */
export async function load(source: Source, options: LoadOptions = {}): Promise<Model> {
  const { signal, onProgress } = options;
  const given = (): CancelledError => new CancelledError('Loading the model was cancelled.', { cause: signal?.reason });
  if (signal?.aborted === true) throw given();
  const from = workerSource(source, options);
  const engine = new URL(options.engine ?? new URL(/* @vite-ignore */ 'weft_llm.mjs', import.meta.url), here()).href;
  const port: Port = new Worker(new URL('./worker/model-worker.js', import.meta.url), { type: 'module', name: 'weft-llm' });

  return new Promise((resolve, reject) => {
    const settle = (): void => signal?.removeEventListener('abort', abort);
    const fail = (error: WeftError): void => {
      settle();
      port.onmessage = null;
      port.terminate();
      reject(error);
    };
    const abort = (): void => {
      settle();
      reject(given());
      const end = (): void => port.terminate();
      const timer = setTimeout(end, abortMsMax);
      port.onmessage = ({ data }) => {
        if (data.type !== 'disposed' && data.type !== 'crashed') return;
        clearTimeout(timer);
        end();
      };
      port.postMessage({ type: 'dispose' });
    };
    signal?.addEventListener('abort', abort, { once: true });
    port.onerror = (event) => fail(new CrashedError(`The engine's Worker cannot start: ${event.message || 'its script is missing'}.`));
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      switch (data.type) {
        case 'progress':
          onProgress?.(data.progress);
          return;
        case 'loaded':
          settle();
          resolve(new Model(port, data.info));
          return;
        case 'refused':
          fail(errorFrom(data.code, data.message, true));
          return;
        case 'crashed':
          fail(new CrashedError(data.message, errorFrom(data.code, '', true).code));
          return;
        default:
      }
    };
    port.postMessage({ type: 'load', source: from, engine, options: engineOptions(options) });
  });
}
