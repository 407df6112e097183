// The playground's engine for the page: calls with answers, around one dedicated Worker that is made by the first call.
import type { GpuSource, Roofs, Run } from './gpuCounters';
import type { FromLab, LabCalls, LabDevice, LabMethod, LabRates, LabRun, ToLab } from './labMessages';

export type LabPort = {
  postMessage(message: ToLab): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromLab>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
};

export function createLabWorker(): LabPort {
  return new Worker(new URL('./labWorker.ts', import.meta.url), { type: 'module', name: 'weft-lab' }) as LabPort;
}

/** The error if the engine's files are not on this server. */
export class LabMissing extends Error {}
/** The error if the Worker was ended, by stop() or because it failed. */
export class LabEnded extends Error {}

type Waiting = { resolve(answer: unknown): void; reject(error: Error): void };

const runsMax = 24;

export class Lab {
  readonly #createPort: () => LabPort;
  #port: LabPort | null = null;
  #next = 1;
  #waiting = new Map<number, Waiting>();
  #runs: readonly Run[] = [];
  #rates: Promise<LabRates> | null = null;

  constructor(createPort: () => LabPort = createLabWorker) {
    this.#createPort = createPort;
  }

  /** Calls a method in the Worker. Rejects with a message of one sentence, as a LabMissing or LabEnded in these two cases. */
  call<Method extends LabMethod>(method: Method, argument: LabCalls[Method]['argument']): Promise<LabCalls[Method]['answer']> {
    const port = this.#open();
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve: resolve as (answer: unknown) => void, reject });
      port.postMessage({ call, method, argument } as ToLab);
    });
  }

  open = (): Promise<LabDevice> => this.call('open', null);
  run = (manifest: string): Promise<LabRun> => this.call('run', manifest);

  /** Returns the rates, which are measured once for each Worker. */
  rates(): Promise<LabRates> {
    this.#rates ??= this.call('measure', null).catch((error: unknown) => {
      this.#rates = null;
      throw error;
    });
    return this.#rates;
  }

  remember(run: Run): void {
    this.#runs = [run, ...this.#runs].slice(0, runsMax);
  }

  /** Ends the running program by ending the Worker, because a browser cannot interrupt a dispatch. The next call makes a new Worker. */
  stop(why = 'Stopped.'): void {
    this.#port?.terminate();
    this.#port = null;
    this.#rates = null;
    const error = new LabEnded(why);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** Returns the source of counters for the DevTools panel. */
  source(): GpuSource {
    return {
      name: 'Playground',
      counters: async (watch) => (this.#port === null ? null : this.call('counters', watch)),
      runs: () => this.#runs,
      roofs: async (): Promise<Roofs | null> => {
        if (this.#port === null) return null;
        const rates = await this.rates();
        return { bytesPerSecond: rates.copyBytesPerSecond, operationsPerSecond: rates.f32OperationsPerSecond, what: 'f32 multiply-adds' };
      },
    };
  }

  #open(): LabPort {
    if (this.#port !== null) return this.#port;
    const port = this.#createPort();
    port.onmessage = ({ data }) => {
      const waiting = this.#waiting.get(data.call);
      this.#waiting.delete(data.call);
      if ('refusal' in data) waiting?.reject(data.missing ? new LabMissing(data.refusal) : new Error(data.refusal));
      else waiting?.resolve(data.answer);
    };
    port.onerror = (event) => this.stop(event.message || "The playground's Web Worker ended with an error.");
    this.#port = port;
    return port;
  }
}
