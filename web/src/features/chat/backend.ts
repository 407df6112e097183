// The source of answers for the chat: a model in this tab, or one of the network through /v1/chat/completions. The page uses only this
// interface.

/** A message. An assistant's message with calls is followed by a message of role `tool` for each call. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly SentCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string };
export type SentCall = { readonly id: string; readonly type: 'function'; readonly function: { readonly name: string; readonly arguments: string } };

export type AnswerOptions = {
  readonly temperature: number;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** The answer must be a JSON object. Only for a backend with `network`. */
  readonly json?: boolean;
  /** Tools that the model may call, in the form of OpenAI's clients. Only for a backend with `network`. */
  readonly tools?: readonly unknown[];
};

/** A part of the model's thoughts before its answer. */
export type Thought = { readonly thought: string };

/** A tool call of the model: the name of the tool, and its arguments as JSON. */
export type ToolCall = { readonly name: string; readonly arguments: string; readonly id?: string };

export type AnswerEnd = {
  /** `length`: the answer was cut at maxTokens or because the context is full. */
  readonly stop: 'eos' | 'length' | 'stop' | 'cancelled';
  readonly tokens: number;
  /** Milliseconds until the first token, and from the first token to the last. */
  readonly firstMs: number;
  readonly restMs: number;
  /** The workers that answered, in a few words; absent for an answer of this tab. */
  readonly served?: string;
  /** How far an answer of the network was verified, in a few words. */
  readonly trust?: string;
  /** The cost in micro-credits, by the price at the time when the model was chosen. */
  readonly cost?: number;
  readonly calls?: readonly ToolCall[];
};

export interface ChatBackend {
  /** The name of the model. */
  readonly name: string;
  /** Where the model runs, in a few words. */
  readonly place: string;
  /** True if the network answers. */
  readonly network?: boolean;
  /**
   * Yields the text of the answer, and thoughts separately, about a token at a time. The signal ends the answer early; its `stop` is then
   * `cancelled`. Throws an Error with a message of one sentence, or a BackendGone if this backend can give no more answers.
   */
  answer(messages: readonly ChatMessage[], options: AnswerOptions): AsyncGenerator<string | Thought, AnswerEnd, void>;
  close(): Promise<void>;
}

export class BackendGone extends Error {}

export type OpenProgress = { readonly phase: 'download' | 'cache' | 'weights'; readonly loaded: number; readonly total: number };

/** Opens a model from its address or file. Rejects with an Error of one sentence, also if the signal cancels it. */
export type OpenBackend = (source: string | File, options: { readonly onProgress: (progress: OpenProgress) => void; readonly signal: AbortSignal }) => Promise<ChatBackend>;

export type KeptModel = { readonly key: string; readonly url: string; readonly bytes: number; readonly complete: boolean };

/** The models that this browser has stored on earlier visits. */
export type Shelf = { list(): Promise<readonly KeptModel[]>; remove(key: string): Promise<void> };

/** A model that the network serves. */
export type ServedModel = {
  readonly name: string;
  readonly state: string;
  readonly shards: number;
  /** The price of 1,000 tokens in micro-credits, and the most positions of a request. */
  readonly price: number;
  readonly context: number;
};
export type ServedModels = { list(): Promise<readonly ServedModel[]> };
