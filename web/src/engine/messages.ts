// What the page and the engine's Worker say to each other. Plain data, so that structured clone carries it.
import type { GpuCounters } from './gpuCounters';

export type DeviceKind = 'gpu' | 'cpu';

/** What this machine offers, as the engine measured it. Rates are 0 until they are measured. */
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

/** Rates from an earlier visit, and the device they are of. */
export type KnownRates = Pick<DeviceReport, 'vendor' | 'architecture' | 'description' | 'copyGbPerS' | 'f32GflopPerS'>;

/** What the user lets this tab take. Tasks and models keep to it. */
export type Limits = {
  /** Share of the time, in (0, 1]. */
  readonly share: number;
  /** For tasks and models together; null: as much as is usual. Holds from the next joining on. */
  readonly memoryBytes: number | null;
  /** Tasks that run at a time, each in its part of their memory; told with the device. */
  readonly slices: number;
  /** The page makes no line to another member but through a relay. Holds from the next joining on. */
  readonly relayOnly: boolean;
  /** The least for a compute unit that it accepts, in micro-credits. Holds from the next joining on. */
  readonly priceMin: number;
  /** Why nothing new is taken; empty while it is. */
  readonly pausedBy: readonly string[];
};

/** What only the Worker knows, once a second. */
export type Usage = {
  /** GPU buffers and the engine's own memory. */
  readonly memoryBytes: number;
  /** Tasks leased to this tab. */
  readonly held: number;
  readonly serving: { readonly connected: boolean; readonly shards: number; readonly running: number; readonly tokens: number };
};

export type TaskName = { readonly job: string; readonly index: number; readonly attempt: number };

/** What the engine asks of the page, which alone may open connections to other tabs. */
export type LinesOrder =
  | {
      readonly type: 'open';
      readonly chain: number;
      readonly epoch: number;
      readonly index: number;
      readonly members: readonly number[];
      /** The coordinator's, with credentials that are good for a while. */
      readonly iceServers: readonly RTCIceServer[];
    }
  | { readonly type: 'signal'; readonly chain: number; readonly epoch: number; readonly from: number; readonly text: string }
  | { readonly type: 'close'; readonly chain: number };

/** And what comes of it. */
export type LineNews =
  | { readonly type: 'signal'; readonly chain: number; readonly epoch: number; readonly member: number; readonly text: string }
  | { readonly type: 'channel'; readonly chain: number; readonly epoch: number; readonly member: number; readonly channel: RTCDataChannel };

export type ToWorker =
  | { readonly type: 'start'; readonly coordinator: string; readonly device: DeviceKind; readonly limits: Limits; readonly known: KnownRates | null }
  | { readonly type: 'limits'; readonly limits: Limits }
  /** Leave: what runs is finished or given back, then the Worker says `stopped`. */
  | { readonly type: 'stop' }
  /** The machine woke up or the network came back: do not wait out the backoff. */
  | { readonly type: 'wake' }
  /** Answered by the counters; null while nothing is loaded. */
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
  /** `savable`: its key can be exported; as before if it is not said. */
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
  /** Taken back by the coordinator, or given back by stop. */
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
