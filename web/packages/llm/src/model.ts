// A loaded model on the page: methods that call one Worker, which holds the WebAssembly, the file and the device.
import { Answer } from './answer.js';
import { CancelledError, CrashedError, errorFrom, WeftError } from './errors.js';
import type { EngineGenerateOptions, EngineInput, FromWorker, Question, ToWorker } from './messages.js';
import type { ChatMessage, GenerateOptions, Input, Json, JsonObject, ModelInfo, Summary, TemplateOptions } from './types.js';

/** The part of the Worker interface that Model uses. */
export type Port = {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessageerror: ((event: MessageEvent) => void) | null;
};

type Pending = { readonly resolve: (value: Json) => void; readonly reject: (error: WeftError) => void };

/** How long the Worker may take to close its files when it is told to end, in milliseconds. */
const disposeMsMax = 2000;

export class Model {
  readonly info: ModelInfo;
  readonly #port: Port;
  readonly #answers = new Map<number, Answer>();
  readonly #questions = new Map<number, Pending>();
  #calls = 0;
  #dead: WeftError | null = null;

  /** Made by load(). */
  constructor(port: Port, info: ModelInfo) {
    this.info = info;
    this.#port = port;
    port.onmessage = (event) => this.#receive(event.data);
    port.onerror = (event) => this.#die(new CrashedError(`The engine's Worker ended: ${event.message || 'no reason is given'}.`));
    port.onmessageerror = () => this.#die(new CrashedError("The engine's Worker sent a message that cannot be read."));
  }

  /** Starts an answer at once. Up to LoadOptions.sequences answers are generated at the same time; more answers wait. */
  generate(input: Input, options: GenerateOptions = {}): Answer {
    const call = ++this.#calls;
    const { signal } = options;
    const cancel = (): void => {
      if (this.#dead === null) this.#port.postMessage({ type: 'cancel', call });
    };
    const answer = new Answer(cancel);
    if (this.#dead !== null) {
      answer.fail(this.#dead);
      return answer;
    }
    this.#answers.set(call, answer);
    this.#port.postMessage({ type: 'generate', call, input: engineInput(input, options.template ?? {}), options: engineOptions(options) });
    if (signal !== undefined) {
      const stop = (): void => answer.cancel();
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      const forget = (): void => signal.removeEventListener('abort', stop);
      answer.summary.then(forget, forget);
    }
    return answer;
  }

  /**
   * `addSpecial` adds BOS and EOS if the model wants them. `parseSpecial` turns the names of special tokens in the text into these tokens.
   */
  async tokenize(text: string, { addSpecial = false, parseSpecial = false }: { addSpecial?: boolean; parseSpecial?: boolean } = {}): Promise<number[]> {
    return (await this.#ask({ method: 'tokenize', text, addSpecial, parseSpecial })) as number[];
  }

  async detokenize(tokens: readonly number[], { showSpecial = true }: { showSpecial?: boolean } = {}): Promise<string> {
    return (await this.#ask({ method: 'detokenize', tokens, showSpecial })) as string;
  }

  /** Returns the text that the chat template of the file makes of a conversation. */
  async render(messages: readonly ChatMessage[], options: TemplateOptions = {}): Promise<string> {
    return (await this.#ask({ method: 'render', input: chatInput(messages, options) })) as string;
  }

  /**
   * Returns the counters of the model's GPU device, from src/engine/gpu/web/watch.js. `watch` turns on timelines and the GPU's own clock.
   */
  async gpuCounters(watch: boolean): Promise<JsonObject> {
    return (await this.#ask({ method: 'gpu', watch })) as JsonObject;
  }

  /** Cancels all calls in progress (code `cancelled`) and frees all memory. A second call has no effect. */
  async dispose(): Promise<void> {
    if (this.#dead !== null) return;
    const port = this.#port;
    this.#fail(new CancelledError('The model was disposed.'));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, disposeMsMax);
      port.onerror = () => resolve();
      port.onmessage = ({ data }) => {
        if (data.type !== 'disposed') return;
        clearTimeout(timer);
        resolve();
      };
      port.postMessage({ type: 'dispose' });
    });
    port.terminate();
  }

  #ask(question: Question): Promise<Json> {
    if (this.#dead !== null) return Promise.reject(this.#dead);
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#questions.set(call, { resolve, reject });
      this.#port.postMessage({ type: 'ask', call, question });
    });
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'piece':
        this.#answers.get(message.call)?.push(message.piece);
        return;
      case 'answer':
        this.#answers.get(message.call)?.end(message.value as Summary);
        this.#questions.get(message.call)?.resolve(message.value as Json);
        break;
      case 'error': {
        const error = errorFrom(message.code, message.message, false);
        this.#answers.get(message.call)?.fail(error);
        this.#questions.get(message.call)?.reject(error);
        break;
      }
      case 'crashed':
        this.#die(new CrashedError(message.message, errorFrom(message.code, '', false).code));
        return;
      default:
        return;
    }
    this.#answers.delete(message.call);
    this.#questions.delete(message.call);
  }

  #die(error: WeftError): void {
    if (this.#dead !== null) return;
    this.#fail(error);
    this.#port.terminate();
  }

  #fail(error: WeftError): void {
    this.#dead = error;
    this.#port.onmessage = null;
    this.#port.onerror = null;
    for (const answer of this.#answers.values()) answer.fail(error);
    for (const { reject } of this.#questions.values()) reject(error);
    this.#answers.clear();
    this.#questions.clear();
  }
}

function chatInput(messages: readonly ChatMessage[], { tools, documents, addGenerationPrompt, variables }: TemplateOptions): JsonObject {
  return {
    ...variables,
    messages,
    ...(tools === undefined ? {} : { tools }),
    ...(documents === undefined ? {} : { documents }),
    ...(addGenerationPrompt === undefined ? {} : { add_generation_prompt: addGenerationPrompt }),
  };
}

const isTokens = (input: readonly number[] | readonly ChatMessage[]): input is readonly number[] => typeof input[0] === 'number';

function engineInput(input: Input, template: TemplateOptions): EngineInput {
  if (typeof input === 'string') return { text: input };
  if (isTokens(input)) return { tokens: input };
  return { chat: chatInput(input, template) };
}

function engineOptions({ signal: _signal, template: _template, ...rest }: GenerateOptions): EngineGenerateOptions {
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
}
