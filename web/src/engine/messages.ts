// The messages between the page and the engine's Worker. They are plain data, so that structured clone can copy them.
import type { GpuCounters } from './gpuCounters';

export type DeviceKind = 'gpu' | 'cpu';

/** The properties of this machine's device, as the engine measured them. Rates are 0 until they are measured. */
export type DeviceReport = {
  readonly kind: DeviceKind;
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  readonly backend: string;
  readonly features: readonly string[];
  readonly memoryBytes: number;
  readonly copyGbPerS: number;
  readonly f32GflopPerS: number;
};

/** Rates from an earlier visit, and the device that they belong to. */
export type KnownRates = Pick<DeviceReport, 'vendor' | 'architecture' | 'description' | 'copyGbPerS' | 'f32GflopPerS'>;

/** The limits that the user sets for this tab. Tasks and models must keep to them. */
export type Limits = {
  /** The share of the time, in (0, 1]. */
  readonly share: number;
  /** The memory for tasks and models together; null: the default amount. A change takes effect at the next join. */
  readonly memoryBytes: number | null;
  /** The number of tasks that run at a time, each in its part of the memory for tasks. It is reported with the device. */
  readonly slices: number;
  /** True: the page makes lines to other members only through a relay. A change takes effect at the next join. */
  readonly relayOnly: boolean;
  /** The lowest price of a compute unit that the tab accepts, in micro-credits. A change takes effect at the next join. */
  readonly priceMin: number;
  /** The reasons why the tab takes no new tasks; empty if it takes tasks. */
  readonly pausedBy: readonly string[];
};

/** Values that only the Worker knows; they are sent once a second. */
export type Usage = {
  /** Bytes of GPU buffers and of the engine's own memory. */
  readonly memoryBytes: number;
  /** The number of tasks that are leased to this tab. */
  readonly held: number;
  readonly serving: { readonly connected: boolean; readonly shards: number; readonly running: number; readonly tokens: number };
};

export type TaskName = { readonly job: string; readonly index: number; readonly attempt: number };

/** The orders of the engine to the page, because only a page can open connections to other tabs. */
export type LinesOrder =
  | {
      readonly type: 'open';
      readonly chain: number;
      readonly epoch: number;
      readonly index: number;
      readonly members: readonly number[];
      /** The coordinator's ICE servers, with credentials that are valid for a limited time. */
      readonly iceServers: readonly RTCIceServer[];
    }
  | { readonly type: 'signal'; readonly chain: number; readonly epoch: number; readonly from: number; readonly text: string }
  | { readonly type: 'close'; readonly chain: number };

/** The reports of the page about the lines of an order. */
export type LineNews =
  | { readonly type: 'signal'; readonly chain: number; readonly epoch: number; readonly member: number; readonly text: string }
  | { readonly type: 'channel'; readonly chain: number; readonly epoch: number; readonly member: number; readonly channel: RTCDataChannel };

export type ToWorker =
  | { readonly type: 'start'; readonly coordinator: string; readonly device: DeviceKind; readonly limits: Limits; readonly known: KnownRates | null }
  | { readonly type: 'limits'; readonly limits: Limits }
  /** Leaves the network: running tasks are finished or given back, then the Worker sends `stopped`. */
  | { readonly type: 'stop' }
  /** The machine woke up or the network came back: the Worker must not wait for the rest of its backoff. */
  | { readonly type: 'wake' }
  /** Asks for the counters; the answer is null while no module is loaded. */
  | { readonly type: 'gpu'; readonly watch: boolean }
  | { readonly type: 'line'; readonly news: LineNews }
  | { readonly type: 'wallet-show' }
  | { readonly type: 'wallet-export' }
  | { readonly type: 'wallet-import'; readonly numbers: readonly number[] };

export type FailureCode = 'engine-missing' | 'engine-broken' | 'wallet' | 'refused' | 'device' | 'worker';

export type FromWorker =
  | { readonly type: 'loading' }
  | { readonly type: 'lines'; readonly order: LinesOrder }
  | { readonly type: 'measuring' }
  | { readonly type: 'gpu'; readonly counters: GpuCounters | null }
  | { readonly type: 'usage'; readonly usage: Usage }
  /** `savable`: the key can be exported. An absent value leaves it unchanged. */
  | { readonly type: 'wallet'; readonly address: string; readonly savable?: boolean }
  | { readonly type: 'wallet-file'; readonly numbers: readonly number[] }
  | { readonly type: 'wallet-refused'; readonly message: string }
  | { readonly type: 'device'; readonly device: DeviceReport }
  | { readonly type: 'device-lost'; readonly message: string }
  | { readonly type: 'connecting' }
  | { readonly type: 'connected'; readonly balance: number }
  | { readonly type: 'disconnected'; readonly reason: string; readonly retryMs: number }
  | { readonly type: 'task-started'; readonly task: TaskName }
  | { readonly type: 'task-done'; readonly task: TaskName; readonly wallSeconds: number; readonly gpuSeconds: number; readonly name?: string; readonly bytes?: number; readonly operations?: number }
  | { readonly type: 'task-failed'; readonly task: TaskName; readonly message: string }
  /** The coordinator took the task back, or stop gave it back. */
  | { readonly type: 'task-cancelled'; readonly task: TaskName; readonly reason: string }
  | {
      readonly type: 'verdict';
      readonly task: TaskName;
      readonly accepted: boolean;
      readonly paid: number;
      readonly balance: number;
      readonly reason: string;
    }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly code: FailureCode; readonly message: string };
