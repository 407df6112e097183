// Tests that the chat reads the stream of a coordinator, split at any place.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BackendGone, type AnswerEnd } from './backend';
import { modelOfSource, NetworkBackend, networkSource, servedBy, servedModels } from './networkBackend';

const chunk = (content: string, finish: string | null = null) => `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: finish }] })}\n\n`;
const tail = `data: ${JSON.stringify({ choices: [], usage: { completion_tokens: 3 }, weft: { shards: 1, transport: 'self', resumed: 0, workers: ['AAAAbbbbCCCC'] } })}\n\ndata: [DONE]\n\n`;

function answers(text: string, cut: number, init: ResponseInit = {}) {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += cut) controller.enqueue(bytes.slice(at, at + cut));
      controller.close();
    },
  });
  const asked = vi.fn(async (_address: string, _init?: RequestInit) => new Response(body, init));
  vi.stubGlobal('fetch', asked);
  return asked;
}

async function whole(signal = new AbortController().signal): Promise<{ text: string; end: AnswerEnd }> {
  const parts = new NetworkBackend('tiny').answer([{ role: 'user', content: 'Hi' }], { temperature: 0, maxTokens: 9, signal });
  let text = '';
  for (;;) {
    const part = await parts.next();
    if (part.done === true) return { text, end: part.value };
    if (typeof part.value === 'string') text += part.value;
  }
}

afterEach(() => vi.unstubAllGlobals());

describe('a model of the network', () => {
  it.each([1, 2, 7, 1000])('is heard whole when its stream comes in parts of %i bytes', async (cut) => {
    const asked = answers(chunk('') + chunk('To') + chunk('kyö\n') + chunk('', 'length') + tail, cut);
    const { text, end } = await whole();
    expect(text).toBe('Tokyö\n');
    expect(end).toMatchObject({ stop: 'length', tokens: 3, served: 'worker AAAA…CCCC' });
    expect(JSON.parse(String(asked.mock.calls[0]?.[1]?.body))).toMatchObject({ model: 'tiny', stream: true, max_tokens: 9 });
  });

  it.each([
    ['anyone', /^not verified: any worker/],
    ['pending', /^not verified yet/],
    ['verified', /^verified: another worker/],
  ])('says how far it was verified: %s', async (trust, words) => {
    answers(chunk('Hi') + tail.replace('"shards":1', `"shards":1,"trust":"${trust}"`), 9);
    expect((await whole()).end.trust).toMatch(words);
  });

  it('says nothing of verification where the coordinator does not', async () => {
    answers(chunk('Hi') + tail, 9);
    expect((await whole()).end.trust).toBeUndefined();
  });

  it('tells thoughts apart, and calls with their ids, and offers tools', async () => {
    const part = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
    const asked = answers(part({ reasoning_content: 'So' }) + chunk('Hi') + part({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{' } }] }) + part({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }) + tail, 9);
    const heard: unknown[] = [];
    const parts = new NetworkBackend('tiny').answer([], { temperature: 0, maxTokens: 9, signal: new AbortController().signal, tools: [{ type: 'function' }] });
    let next = await parts.next();
    for (; next.done !== true; next = await parts.next()) heard.push(next.value);
    expect(heard).toEqual([{ thought: 'So' }, 'Hi']);
    expect(next.value.calls).toEqual([{ id: 'c1', name: 'f', arguments: '{}' }]);
    expect(JSON.parse(String(asked.mock.calls[0]?.[1]?.body)).tools).toEqual([{ type: 'function' }]);
  });

  it('follows the rules of server-sent events: line ends of every kind, comments, data in several lines', async () => {
    const [head = '', rest = ''] = chunk('Hi').trim().split(',"finish_reason"');
    answers(`: a proxy keeps the line open\r\n\r\n${chunk('Oh ').replaceAll('\n', '\r\n')}event: message\nid: 7\n${head}\ndata:,"finish_reason"${rest}\n\n${tail}`, 3);
    expect((await whole()).text).toBe('Oh Hi');
  });

  it('says what the coordinator says', async () => {
    answers(JSON.stringify({ error: { message: 'Too many wait.' } }), 100, { status: 429 });
    await expect(whole()).rejects.toThrow('Too many wait.');
    answers(JSON.stringify({ error: { message: 'No such model.' } }), 100, { status: 404 });
    await expect(whole()).rejects.toBeInstanceOf(BackendGone);
    answers(`${chunk('a')}data: {"error":{"message":"All workers are gone."}}\n\n`, 9);
    await expect(whole()).rejects.toThrow('All workers are gone.');
  });

  it('asks as a guest of the page where API keys are wanted', async () => {
    const refused = new Response(JSON.stringify({ error: { message: 'No API key was given.' } }), { status: 401 });
    const asked = vi.fn(async (address: string, init?: RequestInit) => {
      if (address === '/v1/guest') return new Response(JSON.stringify({ token: 'guest-1' }));
      return new Headers(init?.headers).get('authorization') === 'Bearer guest-1' ? new Response(chunk('Hi') + tail) : refused;
    });
    vi.stubGlobal('fetch', asked);
    expect((await whole()).text).toBe('Hi');
    expect(asked.mock.calls.map(([address]) => address)).toEqual(['/v1/chat/completions', '/v1/guest', '/v1/chat/completions']);
  });

  it('is stopped by closing the connection', async () => {
    const controller = new AbortController();
    controller.abort();
    vi.stubGlobal('fetch', async () => { throw new DOMException('aborted', 'AbortError'); });
    expect((await whole(controller.signal)).end.stop).toBe('cancelled');
  });

  it('is named apart from files and addresses', () => {
    expect(modelOfSource(networkSource('a b'))).toBe('a b');
    expect(modelOfSource('https://example.org/m.gguf')).toBeNull();
    expect(servedBy({ shards: 2, transport: 'webrtc', resumed: 1, workers: ['AAAAbbbb', 'CCCCdddd'] })).toBe(
      '2 workers, from tab to tab AAAA…bbbb, CCCC…dddd; a worker was lost and the answer continued',
    );
  });

  it('is listed with its state and price, if it writes text', async () => {
    const weft = { state: 'ready', shards: 3, price_per_1k_tokens: 7, context_served: 512 };
    const data = [
      { id: 'm', weft: { ...weft, modalities: { output: ['text'] } } },
      { id: 'v', weft: { ...weft, modalities: { output: ['embedding'] } } },
    ];
    answers(JSON.stringify({ data }), 50);
    expect(await servedModels.list()).toEqual([{ name: 'm', state: 'ready', shards: 3, price: 7, context: 512 }]);
  });

  it('costs what its tokens do, and its calls and its substitute are heard of', async () => {
    const call = (index: number, name: string, text: string) => `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index, function: { name, arguments: text } }] } }] })}\n\n`;
    const last = `data: ${JSON.stringify({ weft_fallback: { by: 'example.org' }, choices: [], usage: { completion_tokens: 3, prompt_tokens: 20 } })}\n\ndata: [DONE]\n\n`;
    const asked = answers(call(0, 'look_up', '{"city":') + call(0, '', '"Tokyo"}') + last, 9);
    const parts = new NetworkBackend('tiny', 1000).answer([{ role: 'user', content: 'Hi' }], { temperature: 0, maxTokens: 9, signal: new AbortController().signal, json: true });
    let part = await parts.next();
    while (part.done !== true) part = await parts.next();
    expect(part.value).toMatchObject({ cost: 23, calls: [{ name: 'look_up', arguments: '{"city":"Tokyo"}' }], served: "example.org, in the network's place" });
    expect(JSON.parse(String(asked.mock.calls[0]?.[1]?.body))).toMatchObject({ response_format: { type: 'json_object' } });
  });
});
