// The source of answers in the chat: a model in this tab, or one of the network through /v1/chat/completions. The page knows nothing beyond this.

/** An assistant's message with calls is followed by one of role `tool` for each of them. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly SentCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string };
export type SentCall = { readonly id: string; readonly type: 'function'; readonly function: { readonly name: string; readonly arguments: string } };

export type AnswerOptions = {
  readonly temperature: number;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** The answer is held to a JSON object; only where the backend's `network` is set. */
  readonly json?: boolean;
  /** Tools that the model may call, as OpenAI's clients send them; only where the backend's `network` is set. */
  readonly tools?: readonly unknown[];
};

/** A part of what the model thinks before it answers. */
export type Thought = { readonly thought: string };

/** A tool that the model calls: its name, and its arguments as JSON. */
export type ToolCall = { readonly name: string; readonly arguments: string; readonly id?: string };

export type AnswerEnd = {
  /** `length`: cut at maxTokens or where the context is full. */
  readonly stop: 'eos' | 'length' | 'stop' | 'cancelled';
  readonly tokens: number;
  /** Until the first token, and from there to the last. */
  readonly firstMs: number;
  readonly restMs: number;
  /** Who answered, in a few words, where it was not this tab. */
  readonly served?: string;
  /** How far it was verified, in a few words; of an answer of the network. */
  readonly trust?: string;
  /** What it costs in micro-credits, as the price was when the model was chosen. */
  readonly cost?: number;
  readonly calls?: readonly ToolCall[];
};

export interface ChatBackend {
  /** What answers: the model's name. */
  readonly name: string;
  /** Where it runs, in a few words. */
  readonly place: string;
  /** Whether the network answers. */
  readonly network?: boolean;
  /**
   * Yields the answer's text, and thoughts apart from it, as they come, about a token at a time. The signal ends it early, and it is then an answer whose `stop`
   * is `cancelled`. Throws an Error of one sentence; a BackendGone when nothing more will come of this backend.
   */
  answer(messages: readonly ChatMessage[], options: AnswerOptions): AsyncGenerator<string | Thought, AnswerEnd, void>;
  close(): Promise<void>;
}

export class BackendGone extends Error {}

export type OpenProgress = { readonly phase: 'download' | 'cache' | 'weights'; readonly loaded: number; readonly total: number };

/** Makes a backend of a model's address or file. Rejects with an Error of one sentence, also when the signal gives it up. */
export type OpenBackend = (source: string | File, options: { readonly onProgress: (progress: OpenProgress) => void; readonly signal: AbortSignal }) => Promise<ChatBackend>;

export type KeptModel = { readonly key: string; readonly url: string; readonly bytes: number; readonly complete: boolean };

/** The models that this browser keeps from earlier visits. */
export type Shelf = { list(): Promise<readonly KeptModel[]>; remove(key: string): Promise<void> };

/** The models that the network serves. */
export type ServedModel = {
  readonly name: string;
  readonly state: string;
  readonly shards: number;
  /** Micro-credits for 1,000 tokens, and positions of a request. */
  readonly price: number;
  readonly context: number;
};
export type ServedModels = { list(): Promise<readonly ServedModel[]> };
