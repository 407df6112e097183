// The engine for the page: a store with a snapshot and a few methods, around one dedicated Worker. The Worker is made by the first method
// that needs it, and it loads the WebAssembly only at start(), so that opening the page costs nothing.
import type { GpuCounters } from './gpuCounters';
import { keepDevice, recallDevice } from './knownDevice';
import type { DeviceKind, FromWorker, Limits, LinesOrder, ToWorker } from './messages';
import type { Peers } from './peers';
import { emptySession, isActive, reduce, started, startedAgain, type Session } from './session';

/** The part of the Worker interface that Engine uses. */
export type Port = {
  postMessage(message: ToWorker, transfer?: Transferable[]): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
};

export type EngineOptions = {
  readonly createPort: () => Port;
  readonly now?: () => number;
  /**
   * How long stop() waits for a running task before it ends the Worker, in milliseconds. The coordinator then gives the leases to others.
   */
  readonly stopMsMax?: number;
};

export type StartOptions = { readonly coordinator: string; readonly device: DeviceKind };

const tellMs = 100;

export class Engine {
  readonly #options: EngineOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  #session: Session = emptySession;
  #port: Port | null = null;
  #limits: Limits = { share: 1, memoryBytes: null, slices: 1, relayOnly: false, priceMin: 0, pausedBy: [] };
  /** The options of the current or latest start. */
  #startedWith: StartOptions | null = null;
  /** True if the engine must start again after it has stopped, because a coordinator learns memory and slices only when a worker joins. */
  #again = false;
  #stopTimer: ReturnType<typeof setTimeout> | undefined;
  #tellTimer: ReturnType<typeof setTimeout> | undefined;
  #exports: PromiseWithResolvers<readonly number[]>[] = [];
  #countersAsked: ((counters: GpuCounters | null) => void)[] = [];
  #peers: Promise<Peers> | null = null;
  #ordered: Promise<void> = Promise.resolve();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly snapshot = (): Session => this.#session;

  start(options: StartOptions): void {
    if (isActive(this.#session.phase)) return;
    this.#again = false;
    this.#startedWith = options;
    this.#set(started(this.#session, this.#now()));
    this.#order(options);
  }

  stop(): void {
    this.#again = false;
    if (!isActive(this.#session.phase) || this.#session.phase === 'stopping') return;
    this.#set({ ...this.#session, phase: 'stopping' });
    this.#leave();
  }

  /** Sets the limits for the running engine and for later starts. */
  limit(limits: Limits): void {
    const before = this.#limits;
    const joinsAnew = before.memoryBytes !== limits.memoryBytes || before.slices !== limits.slices || before.relayOnly !== limits.relayOnly || before.priceMin !== limits.priceMin;
    if (before.share === limits.share && !joinsAnew && before.pausedBy.join() === limits.pausedBy.join()) return;
    this.#limits = limits;
    this.#set({ ...this.#session, limits });
    if (!isActive(this.#session.phase) || this.#session.phase === 'stopping' || this.#again) return;
    if (!joinsAnew) {
      this.#post({ type: 'limits', limits });
      return;
    }
    this.#again = true;
    this.#set(startedAgain(this.#session));
    this.#leave();
  }

  wake(): void {
    if (isActive(this.#session.phase)) this.#post({ type: 'wake' });
  }

  /** Returns the GPU counters, or null while no engine is loaded. `watch` turns timelines and the GPU's own clock on or off. */
  gpuCounters(watch: boolean): Promise<GpuCounters | null> {
    if (this.#port === null) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#countersAsked.push(resolve);
      this.#post({ type: 'gpu', watch });
    });
  }

  showWallet(): void {
    this.#post({ type: 'wallet-show' });
  }

  /**
   * Returns the wallet as 64 numbers, the format of `weft wallet` and of Solana's tools. Rejects with a message of one sentence if its key
   * cannot be exported; only keys of earlier versions can.
   */
  exportWallet(): Promise<readonly number[]> {
    const waiting = withResolvers<readonly number[]>();
    this.#exports.push(waiting);
    this.#post({ type: 'wallet-export' });
    return waiting.promise;
  }

  importWallet(numbers: readonly number[]): void {
    this.#post({ type: 'wallet-import', numbers });
  }

  #order(options: StartOptions): void {
    this.#post({ type: 'start', ...options, limits: this.#limits, known: recallDevice(options.device, this.#now()) });
  }

  #leave(): void {
    clearTimeout(this.#stopTimer);
    this.#post({ type: 'stop' });
    this.#stopTimer = setTimeout(() => this.#end({ type: 'stopped' }), this.#options.stopMsMax ?? 15_000);
  }

  #post(message: ToWorker): void {
    if (this.#port === null) {
      const port = this.#options.createPort();
      port.onmessage = (event) => this.#receive(event.data);
      port.onerror = (event) => {
        this.#end({ type: 'failed', code: 'worker', message: event.message || "The engine's Worker could not be started." });
      };
      this.#port = port;
    }
    this.#port.postMessage(message);
  }

  /** Passes an order on to the module for lines, which is loaded for the first chain that needs lines; most visitors do not need it. */
  #lines(order: LinesOrder): void {
    this.#peers ??= import('./peers').then(
      ({ Peers }) => new Peers({
          say: (news, transfer) => this.#port?.postMessage({ type: 'line', news }, transfer),
          relayOnly: () => this.#limits.relayOnly,
        }),
    );
    // Orders are handled one by one.
    this.#ordered = this.#ordered.then(async () => (await this.#peers)?.take(order)).catch(() => {});
  }

  #receive(message: FromWorker): void {
    if (message.type === 'lines') {
      this.#lines(message.order);
      return;
    }
    if (message.type === 'wallet-file') {
      for (const { resolve } of this.#exports.splice(0)) resolve(message.numbers);
      this.#set(reduce(this.#session, message, this.#now()));
      return;
    }
    if (message.type === 'gpu') {
      for (const resolve of this.#countersAsked.splice(0)) resolve(message.counters);
      return;
    }
    if (message.type === 'device') keepDevice(message.device, this.#now());
    if (message.type === 'wallet-refused') this.#refuseExports(message.message);
    if (message.type === 'stopped' || message.type === 'failed') {
      this.#end(message);
      return;
    }
    this.#set(reduce(this.#session, message, this.#now()));
  }

  /** Ends the Worker, which frees the memory and the device of a stopped engine. */
  #end(message: FromWorker): void {
    clearTimeout(this.#stopTimer);
    this.#refuseExports(message.type === 'failed' ? message.message : 'The engine was stopped.');
    for (const resolve of this.#countersAsked.splice(0)) resolve(null);
    if (this.#port !== null) {
      this.#port.onmessage = null;
      this.#port.onerror = null;
      this.#port.terminate();
      this.#port = null;
    }
    void this.#peers?.then((peers) => peers.closeAll());
    this.#peers = null;
    const again = this.#again && message.type === 'stopped';
    this.#again = false;
    if (again && this.#startedWith !== null) {
      this.#order(this.#startedWith);
      return;
    }
    this.#set(reduce(this.#session, message, this.#now()));
  }

  #refuseExports(why: string): void {
    for (const { reject } of this.#exports.splice(0)) reject(new Error(why));
  }

  /**
   * Sets the session. A fast machine completes hundreds of tasks a second, so the page is told ten times a second; but it is told at once
   * of a new phase, of limits and of a lost GPU.
   */
  #set(session: Session): void {
    const urgent = session.phase !== this.#session.phase || session.limits !== this.#session.limits || session.deviceLost !== this.#session.deviceLost;
    this.#session = session;
    if (urgent) this.#tell();
    else this.#tellTimer ??= setTimeout(() => this.#tell(), tellMs);
  }

  #tell(): void {
    clearTimeout(this.#tellTimer);
    this.#tellTimer = undefined;
    for (const listener of this.#listeners) listener();
  }
}

// Declared here, because Promise.withResolvers is missing in some of the supported browsers.
type PromiseWithResolvers<Value> = { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void; readonly reject: (reason: Error) => void };
function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (reason: Error) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
