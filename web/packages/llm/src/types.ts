// The plain data of the package's interface.

/** A GGUF file: an address (relative ones to the page), a File or Blob (as from a drop), or its bytes. */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array;

export type DeviceChoice = 'auto' | 'gpu' | 'cpu';
export type KvFormat = 'f32' | 'f16' | 'q8_0';
export type Activations = 'f32' | 'int8';

/**
 * Where loading stands, in bytes. `download`: from the network. `cache`: the file was kept from an earlier load, said once.
 * `weights`: from the file to the device.
 */
export type Progress = { readonly phase: 'download' | 'cache' | 'weights'; readonly loaded: number; readonly total: number };

export type LoadOptions = {
  /** `auto`: WebGPU where the browser has it, else the processor. The default. */
  readonly device?: DeviceChoice;
  /** How keys and values are kept; f16 by default. */
  readonly kv?: KvFormat;
  /** What matrices are multiplied with; int8 is faster and moves probabilities a little. f32 by default. */
  readonly activations?: Activations;
  /** Positions that a conversation can have; by default the model's own, at most 4096. */
  readonly context?: number;
  /** Answers that are written side by side; more wait. 1 by default. */
  readonly sequences?: number;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
  /** false: a file from the network is held in memory and not kept in the browser's storage (OPFS). */
  readonly cache?: boolean;
  /** The file's SHA-256 in hexadecimal; a file from the network is checked against it. */
  readonly sha256?: string;
  /** The address of weft_llm.mjs, for bundlers; by default it lies beside this module. */
  readonly engine?: string | URL;
};

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** As chat templates know them: `role`, `content`, and what else the model's template reads. */
export type ChatMessage = { readonly role: string; readonly content: Json } & JsonObject;

/** A prompt as text (special tokens in it are parsed), as token ids, or a conversation for the file's chat template. */
export type Input = string | readonly number[] | readonly ChatMessage[];

export type TemplateOptions = {
  readonly tools?: readonly JsonObject[];
  readonly documents?: readonly JsonObject[];
  /** true by default: the text ends where the assistant begins. */
  readonly addGenerationPrompt?: boolean;
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: JsonObject;
};

export type GenerateOptions = {
  readonly maxTokens?: number;
  /** 0, the default, is always the best token. */
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly repetitionPenalty?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** Same seed, same device, same text. */
  readonly seed?: number;
  /** The answer ends before the first of these. */
  readonly stop?: readonly string[];
  /** How many of the best candidates every piece lists. */
  readonly logprobs?: number;
  /** Ends the answer within a token; it is then an answer whose `stop` is `cancelled`. */
  readonly signal?: AbortSignal;
  /** For conversations. */
  readonly template?: TemplateOptions;
};

export type Candidate = { readonly token: number; readonly logprob: number };

/** One token, and the text that became certain by it: whole characters, perhaps none. All texts together are the answer. */
export type Piece = Candidate & {
  readonly text: string;
  /** Best first; empty without `logprobs`. */
  readonly top: readonly Candidate[];
};

export type StopReason = 'eos' | 'length' | 'stop' | 'cancelled';

export type Summary = {
  readonly text: string;
  readonly stop: StopReason;
  readonly promptTokens: number;
  /** Tokens of the prompt that an earlier turn left in the cache. */
  readonly reusedTokens: number;
  readonly tokens: number;
  /** Until the first token. */
  readonly prefillMs: number;
  /** From the first token to the last. */
  readonly decodeMs: number;
};

export type ModelInfo = {
  readonly architecture: string;
  readonly name: string;
  readonly layers: number;
  readonly embedding: number;
  readonly vocabulary: number;
  readonly parameters: number;
  readonly trainedContext: number;
  readonly context: number;
  readonly sequences: number;
  readonly kv: KvFormat;
  readonly activations: Activations;
  readonly fileBytes: number;
  readonly weightBytes: number;
  /** Where its chat template is from; null for a model that cannot chat. */
  readonly chatTemplate: 'given' | 'llama3' | 'chatml' | 'llama2' | null;
  /** `reason`: why it is the processor although `auto` would have had a GPU; else empty. */
  readonly device: { readonly kind: 'gpu' | 'cpu'; readonly name: string; readonly reason: string };
  /** Where the bytes came from. `cache`: kept from an earlier load. */
  readonly origin: 'network' | 'cache' | 'file' | 'memory';
};
