// A detector for the page: calls with answers, around one dedicated Worker that is made by the first call.
import type { FromVision, ToVision, VisionCalls, VisionMethod } from './visionMessages';

export type SightPort = {
  postMessage(message: ToVision, transfer: Transferable[]): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromVision>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
};

export function createVisionWorker(): SightPort {
  return new Worker(new URL('./visionWorker.ts', import.meta.url), { type: 'module', name: 'weft-vision' }) as SightPort;
}

/** The error if the engine's files are not on this server. */
export class SightMissing extends Error {}

type Waiting = { resolve(answer: unknown): void; reject(error: Error): void };

export class Sight {
  readonly #createPort: () => SightPort;
  #port: SightPort | null = null;
  #next = 1;
  #waiting = new Map<number, Waiting>();

  constructor(createPort: () => SightPort = createVisionWorker) {
    this.#createPort = createPort;
  }

  /** Calls a method in the Worker. Rejects with a message of one sentence. The objects in `transfer` are transferred. */
  call<Method extends VisionMethod>(method: Method, argument: VisionCalls[Method]['argument'], transfer: Transferable[]): Promise<VisionCalls[Method]['answer']> {
    const port = this.#open();
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve: resolve as (answer: unknown) => void, reject });
      port.postMessage({ call, method, argument } as ToVision, transfer);
    });
  }

  /** Ends the Worker and rejects calls that wait for an answer. */
  close(why = 'The model was closed.'): void {
    this.#port?.terminate();
    this.#port = null;
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
    this.#waiting.clear();
  }

  #open(): SightPort {
    if (this.#port !== null) return this.#port;
    const port = this.#createPort();
    port.onmessage = ({ data }) => {
      const waiting = this.#waiting.get(data.call);
      this.#waiting.delete(data.call);
      if ('refusal' in data) waiting?.reject(data.missing ? new SightMissing(data.refusal) : new Error(data.refusal));
      else waiting?.resolve(data.answer);
    };
    port.onerror = (event) => this.close(event.message || "The model's Web Worker ended with an error.");
    this.#port = port;
    return port;
  }
}
