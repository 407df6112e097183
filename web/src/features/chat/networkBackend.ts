// A model of the network, through the coordinator's /v1/chat/completions. The answer is streamed; closing the connection ends it early.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { BackendGone, type AnswerEnd, type AnswerOptions, type ChatBackend, type ChatMessage, type ServedModels, type Thought, type ToolCall } from './backend';

/** The prefix of the name of a network model, where otherwise a file or an address is given. */
const scheme = 'network:';
export const networkSource = (model: string): string => scheme + model;
export const modelOfSource = (source: string | File): string | null =>
  typeof source === 'string' && source.startsWith(scheme) ? source.slice(scheme.length) : null;

type CallPart = { readonly index: number; readonly id?: string; readonly function?: { readonly name?: string; readonly arguments?: string } };
type Chunk = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string; readonly reasoning_content?: string; readonly tool_calls?: readonly CallPart[] }; readonly finish_reason?: string | null }[];
  readonly usage?: { readonly completion_tokens: number; readonly prompt_tokens?: number } | null;
  readonly weft_fallback?: { readonly by: string };
  readonly weft?: { readonly shards: number; readonly transport: string; readonly resumed: number; readonly workers: readonly string[]; readonly trust?: string };
  readonly error?: { readonly message: string };
};

// The token of a guest, which a coordinator that requires API keys gives to its own page.
let guestToken: string | null = null;

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const once = (): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (guestToken !== null) headers.set('authorization', `Bearer ${guestToken}`);
    return fetch(path, { ...init, headers });
  };
  const answer = await once();
  if (answer.status !== 401) return answer;
  const guest = await fetch('/v1/guest', init.signal ? { signal: init.signal } : {});
  if (!guest.ok) return answer;
  ({ token: guestToken } = (await guest.json()) as { token: string });
  return once();
}

const lines: Record<string, string> = { webrtc: 'from tab to tab', relay: 'over the coordinator', tcp: 'directly' };
const short = (key: string): string => `${key.slice(0, 4)}…${key.slice(-4)}`;

/** Returns who served the answer, such as "3 workers, from tab to tab AbCd…wxyz, …". */
export function servedBy({ workers, transport, resumed }: NonNullable<Chunk['weft']>): string {
  const count = workers.length === 1 ? 'worker' : `${workers.length} workers, ${lines[transport] ?? transport}`;
  return `${count} ${workers.map(short).join(', ')}${resumed > 0 ? '; a worker was lost and the answer continued' : ''}`;
}

const trusts: Record<string, string> = {
  'anyone': 'not verified: any worker may have answered',
  pending: 'not verified yet: a part of such answers is drawn again by another worker',
  verified: 'verified: another worker drew its tokens again',
  refuted: 'refuted: another worker draws other tokens',
};

/** Returns in words how far an answer was verified (`weft.trust`, docs/openai.md); undefined for an unknown value. */
export const verifiedHow = (trust: string | undefined): string | undefined => (trust === undefined ? undefined : trusts[trust]);

type Listed = {
  readonly id: string;
  readonly weft: {
    readonly state: string;
    readonly shards: number;
    readonly price_per_1k_tokens: number;
    readonly context_served: number;
    readonly modalities?: { readonly output: readonly string[] };
  };
};

export const servedModels: ServedModels = {
  async list() {
    const answer = await ask('/v1/models');
    if (!answer.ok) return [];
    const { data } = (await answer.json()) as { data: readonly Listed[] };
    return data
      .filter(({ weft }) => weft.modalities?.output.includes('text') ?? true)
      .map(({ id, weft }) => ({ name: id, state: weft.state, shards: weft.shards, price: weft.price_per_1k_tokens, context: weft.context_served }));
  },
};

/** Yields the data of server-sent events, one after the other. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value.data;
  }
}

async function failureOf(answer: Response): Promise<Error> {
  const { error } = (await answer.json().catch(() => ({}))) as Chunk;
  const message = error?.message ?? `The coordinator answered ${answer.status}.`;
  return answer.status === 404 ? new BackendGone(message) : new Error(message);
}

export class NetworkBackend implements ChatBackend {
  readonly name: string;
  readonly place = "On the network: contributors' machines answer, and their owners can read what you write";

  readonly network = true;
  readonly #price: number;

  /** `price` is the price of 1,000 tokens in micro-credits. */
  constructor(model: string, price = 0) {
    this.name = model;
    this.#price = price;
  }

  async *answer(messages: readonly ChatMessage[], { temperature, maxTokens, signal, json = false, tools = [] }: AnswerOptions): AsyncGenerator<string | Thought, AnswerEnd, void> {
    const began = performance.now();
    let first = 0;
    let stop: AnswerEnd['stop'] = 'eos';
    let tokens = 0;
    let served: string | undefined;
    let trust: string | undefined;
    let read = 0;
    const calls: { id?: string; name: string; arguments: string }[] = [];
    const end = (): AnswerEnd => ({
      stop,
      tokens,
      firstMs: (first || performance.now()) - began,
      restMs: first === 0 ? 0 : performance.now() - first,
      ...(served === undefined ? {} : { served }),
      ...(trust === undefined ? {} : { trust }),
      ...(this.#price > 0 && tokens + read > 0 ? { cost: Math.ceil(((tokens + read) * this.#price) / 1000) } : {}),
      ...(calls.length === 0 ? {} : { calls: calls as readonly ToolCall[] }),
    });
    const body = { model: this.name, messages, temperature, max_tokens: maxTokens, stream: true, stream_options: { include_usage: true }, ...(json ? { response_format: { type: 'json_object' } } : {}), ...(tools.length === 0 ? {} : { tools }) };
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await ask('/v1/chat/completions', { method: 'POST', headers, body: JSON.stringify(body), signal });
      if (!answer.ok || answer.body === null) throw await failureOf(answer);
      for await (const event of eventsOf(answer.body)) {
        if (event === '[DONE]') break;
        const chunk = JSON.parse(event) as Chunk;
        if (chunk.error !== undefined) throw new Error(chunk.error.message);
        const [choice] = chunk.choices ?? [];
        const text = choice?.delta?.content ?? '';
        if (choice?.finish_reason === 'length') stop = 'length';
        if (chunk.usage) {
          tokens = chunk.usage.completion_tokens;
          read = chunk.usage.prompt_tokens ?? 0;
        }
        for (const { index, id, function: part } of choice?.delta?.tool_calls ?? []) {
          const call = (calls[index] ??= { name: '', arguments: '' });
          if (id !== undefined) call.id = id;
          call.name += part?.name ?? '';
          call.arguments += part?.arguments ?? '';
        }
        if (chunk.weft_fallback) served = `${chunk.weft_fallback.by}, in the network's place`;
        if (chunk.weft) {
          served = servedBy(chunk.weft);
          trust = verifiedHow(chunk.weft.trust);
        }
        const thought = choice?.delta?.reasoning_content ?? '';
        if (text !== '' || thought !== '') first ||= performance.now();
        if (thought !== '') yield { thought };
        if (text !== '') yield text;
      }
      return end();
    } catch (error) {
      if (!signal.aborted) throw error;
      stop = 'cancelled';
      return end();
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
