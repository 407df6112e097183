// The messages between the page and the Worker. A number identifies a call until it is answered or refused.
import type { Activations, DeviceChoice, Json, JsonObject, KvFormat, ModelInfo, Piece, Progress, Summary } from './types.js';

export type WorkerSource =
  | { readonly kind: 'url'; readonly url: string; readonly cache: boolean; readonly sha256: string | null }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** Keys that were not given are absent. */
export type EngineLoadOptions = {
  readonly device?: DeviceChoice;
  readonly kv?: KvFormat;
  readonly activations?: Activations;
  readonly context?: number;
  readonly sequences?: number;
};

export type EngineInput = { readonly text: string } | { readonly tokens: readonly number[] } | { readonly chat: JsonObject };
/** Those GenerateOptions that are numbers or lists of texts. */
export type EngineGenerateOptions = { readonly [key: string]: number | readonly string[] };

export type Question =
  | { readonly method: 'tokenize'; readonly text: string; readonly addSpecial: boolean; readonly parseSpecial: boolean }
  | { readonly method: 'detokenize'; readonly tokens: readonly number[]; readonly showSpecial: boolean }
  | { readonly method: 'render'; readonly input: JsonObject }
  | { readonly method: 'gpu'; readonly watch: boolean };

export type ToWorker =
  | { readonly type: 'load'; readonly source: WorkerSource; readonly engine: string; readonly options: EngineLoadOptions }
  | { readonly type: 'generate'; readonly call: number; readonly input: EngineInput; readonly options: EngineGenerateOptions }
  | { readonly type: 'cancel'; readonly call: number }
  | { readonly type: 'ask'; readonly call: number; readonly question: Question }
  /** Ends a load in progress, closes files and frees the memory of the GPU. The answer is `disposed`. */
  | { readonly type: 'dispose' };

export type FromWorker =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'loaded'; readonly info: ModelInfo }
  | { readonly type: 'refused'; readonly code: string; readonly message: string }
  | { readonly type: 'piece'; readonly call: number; readonly piece: Piece }
  | { readonly type: 'answer'; readonly call: number; readonly value: Summary | Json }
  | { readonly type: 'error'; readonly call: number; readonly code: string; readonly message: string }
  | { readonly type: 'crashed'; readonly code: string; readonly message: string }
  | { readonly type: 'disposed' };
