// The plain data types of the package's interface.

/** A GGUF file: an address (a relative one is relative to the page), a File or Blob (for example from a drop), or its bytes. */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array;

export type DeviceChoice = 'auto' | 'gpu' | 'cpu';
export type KvFormat = 'f32' | 'f16' | 'q8_0';
export type Activations = 'f32' | 'int8';

/**
 * The progress of loading, in bytes. `download`: bytes from the network. `cache`: the file was kept by an earlier load; reported once.
 * `weights`: bytes copied from the file to the device.
 */
export type Progress = { readonly phase: 'download' | 'cache' | 'weights'; readonly loaded: number; readonly total: number };

export type LoadOptions = {
  /** `auto`, the default, is WebGPU if the browser has it, else the processor. */
  readonly device?: DeviceChoice;
  /** The format in which keys and values are stored; the default is f16. */
  readonly kv?: KvFormat;
  /** The type in which matrices are multiplied; the default is f32. int8 is faster and changes probabilities slightly. */
  readonly activations?: Activations;
  /** The number of positions of a conversation; the default is that of the model, at most 4096. */
  readonly context?: number;
  /** The number of answers that are generated at the same time; more wait. The default is 1. */
  readonly sequences?: number;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
  /** false: a file from the network is held in memory and is not kept in the browser's storage (OPFS). */
  readonly cache?: boolean;
  /** The file's SHA-256 in hexadecimal; a downloaded file is checked against it. */
  readonly sha256?: string;
  /** The address of weft_llm.mjs, for bundlers; by default it is next to this module. */
  readonly engine?: string | URL;
};

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A message as chat templates take it: `role`, `content`, and further fields that the model's template reads. */
export type ChatMessage = { readonly role: string; readonly content: Json } & JsonObject;

/** A prompt: a text (special tokens in it are parsed), token ids, or a conversation for the file's chat template. */
export type Input = string | readonly number[] | readonly ChatMessage[];

export type TemplateOptions = {
  readonly tools?: readonly JsonObject[];
  readonly documents?: readonly JsonObject[];
  /** true, the default: the rendered text ends at the point where the assistant's message begins. */
  readonly addGenerationPrompt?: boolean;
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: JsonObject;
};

export type GenerateOptions = {
  readonly maxTokens?: number;
  /** 0, the default, always chooses the best token. */
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly repetitionPenalty?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** The seed of the random choices; the same seed on the same device gives the same text. */
  readonly seed?: number;
  /** Texts that end the answer; the answer does not contain them. */
  readonly stop?: readonly string[];
  /** The number of best candidates that every piece lists. */
  readonly logprobs?: number;
  /** A signal that ends the answer within a token; the `stop` of the answer is then `cancelled`. */
  readonly signal?: AbortSignal;
  /** Options for prompts that are conversations. */
  readonly template?: TemplateOptions;
};

export type Candidate = { readonly token: number; readonly logprob: number };

/** One token, and the text that is complete after it: whole characters, perhaps none. All texts together are the answer. */
export type Piece = Candidate & {
  readonly text: string;
  /** The best candidates, best first; empty without `logprobs`. */
  readonly top: readonly Candidate[];
};

export type StopReason = 'eos' | 'length' | 'stop' | 'cancelled';

export type Summary = {
  readonly text: string;
  readonly stop: StopReason;
  readonly promptTokens: number;
  /** The number of the prompt's tokens that were in the cache from an earlier turn. */
  readonly reusedTokens: number;
  readonly tokens: number;
  /** Milliseconds until the first token. */
  readonly prefillMs: number;
  /** Milliseconds from the first token to the last. */
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
  /** The origin of the chat template; null for a model that cannot chat. */
  readonly chatTemplate: 'given' | 'llama3' | 'chatml' | 'llama2' | null;
  /** `reason`: why the device is the processor although `auto` prefers a GPU; empty otherwise. */
  readonly device: { readonly kind: 'gpu' | 'cpu'; readonly name: string; readonly reason: string };
  /** The origin of the bytes. `cache`: kept by an earlier load. */
  readonly origin: 'network' | 'cache' | 'file' | 'memory';
};
