// Language models over the network, natively, with the official OpenAI client: whole models, chains
// of shards, and answers that continue when a shard's worker is killed in the middle of them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { browse, picture } from './browser.mjs';
import { getJson, long, pause, root, run, scratch, serve, until, work } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const question = [{ role: 'user', content: 'What is the capital of Japan?' }];
const story = 'KING RICHARD III:\nNow is the winter of';

function client(url, options = {}) {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, ...options });
}

async function addModel(t, url, { name = 'tiny', shards = 1 } = {}) {
  const wallet = path.join(scratch(t), 'client.json');
  const { code, stderr } = await run(['model', 'add', model, '--name', name, '--shards', String(shards), '--coordinator', url, '--wallet', wallet, '--wait']);
  assert.equal(code, 0, stderr);
}

/** Starts workers with caches of their own, on the processor unless an option says otherwise. */
function serving(t, url, { device = 'cpu', cache = scratch(t) } = {}) {
  process.env.XDG_CACHE_HOME = cache;
  return work(t, url, { args: ['--device', device] });
}

async function generated(prompt, count) {
  const { code, stdout, stderr } = await run(['generate', '--model', model, '--prompt', prompt, '-n', String(count), '--device', 'cpu', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

test('a whole model answers the official client: plain, streamed, with log-probabilities, several at once', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  await serving(t, url);
  await addModel(t, url);
  const openai = client(url);

  const models = await openai.models.list();
  assert.deepEqual(models.data.map(({ id }) => id), ['tiny']);
  assert.equal((await openai.models.retrieve('tiny')).object, 'model');

  const plain = await openai.chat.completions.create({ model: 'tiny', messages: question, temperature: 0, logprobs: true, top_logprobs: 2 });
  assert.equal(plain.choices[0].message.content, 'The capital of Japan is Tokyo.');
  assert.equal(plain.choices[0].finish_reason, 'stop');
  assert.deepEqual(plain.usage, { prompt_tokens: 20, completion_tokens: 11, total_tokens: 31, prompt_tokens_details: { cached_tokens: 0 } });
  const { content } = plain.choices[0].logprobs;
  assert.equal(content.map(({ token }) => token).join(''), 'The capital of Japan is Tokyo.');
  for (const token of content) {
    assert.equal(token.top_logprobs.length, 2);
    assert.equal(token.top_logprobs[0].token, token.token);
    assert.ok(Math.abs(token.top_logprobs[0].logprob - token.logprob) < 1e-4);
    assert.equal(Buffer.from(token.bytes).toString(), token.token);
  }

  let text = '';
  let finish = null;
  let usage = null;
  const stream = await openai.chat.completions.create({ model: 'tiny', messages: question, temperature: 0, stream: true, stream_options: { include_usage: true } });
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    finish ??= chunk.choices[0]?.finish_reason;
    usage ??= chunk.usage;
  }
  assert.equal(text, 'The capital of Japan is Tokyo.');
  assert.equal(finish, 'stop');
  assert.equal(usage.total_tokens, 31);

  const expected = await generated(story, 48);
  const completion = await openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 48, temperature: 0 });
  assert.equal(completion.choices[0].text, expected.text);
  assert.equal(completion.choices[0].finish_reason, 'length');

  const stopped = await openai.completions.create({ model: 'tiny', prompt: [story, story], max_tokens: 48, temperature: 0, stop: ['?'] });
  assert.equal(stopped.choices.length, 2);
  for (const choice of stopped.choices) assert.equal(choice.text, expected.text.slice(0, expected.text.indexOf('?')));

  const [first, again, other] = await Promise.all([5, 5, 6].map((seed) => openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 24, temperature: 1, seed })));
  assert.equal(first.choices[0].text, again.choices[0].text);
  assert.notEqual(first.choices[0].text, other.choices[0].text);

  const both = await openai.chat.completions.create({ model: 'tiny', messages: question, temperature: 1.5, n: 2, seed: 1 });
  assert.deepEqual(both.choices.map(({ index }) => index), [0, 1]);
});

test('what is wrong with a request is said in the shape that OpenAI’s clients know', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  await serving(t, url);
  await addModel(t, url);
  const openai = client(url);
  const refused = async (body, status, code, message) => {
    const error = await openai.chat.completions.create(body).then(() => null, (problem) => problem);
    assert.ok(error instanceof OpenAI.APIError, `${JSON.stringify(body)}: ${error}`);
    assert.equal(error.status, status, error.message);
    assert.equal(error.code, code);
    assert.match(error.message, message);
  };
  const tooLong = /^400 The prompt has \d+ tokens; at most \d+ fit into the context of \d+, which the answer shares: shorten it\.$/;
  await refused({ model: 'gone', messages: question }, 404, 'model_not_found', /'gone' does not exist/);
  await refused({ model: 'tiny', messages: [] }, 400, 'invalid_argument', /messages: must not be empty/);
  await refused({ model: 'tiny', messages: question, temperature: 7 }, 400, 'invalid_argument', /temperature: must be from 0 to 2/);
  await refused({ model: 'tiny', messages: question, response_format: { type: 'xml' } }, 400, 'invalid_argument', /response_format\.type: must be "text", "json_object" or "json_schema"/);
  await refused({ model: 'tiny', messages: [{ role: 'user', content: 'word '.repeat(20_000) }] }, 400, 'context_length_exceeded', tooLong);
  await refused({ model: 'tiny', messages: [{ role: 'user', content: 'word '.repeat(20_000) }], stream: true }, 400, 'context_length_exceeded', tooLong);
  for (const body of ['', '{', '[]', '{"model":5}', '"x"']) {
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    assert.equal(answer.status, 400, body);
    assert.equal((await answer.json()).error.type, 'invalid_request_error');
  }
});

test('a client that goes away frees the worker at once', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  await serving(t, url);
  await addModel(t, url, { shards: 1 });
  const openai = client(url);
  const stream = await openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 480, temperature: 0, stream: true });
  // Leaving the loop closes the connection.
  for await (const chunk of stream) if (chunk.choices[0].text) break;
  stream.controller.abort();
  const began = performance.now();
  await until(async () => (await getJson(`${url}/v1/serving`)).models[0].running === 0, 'nothing runs', 5);
  t.diagnostic(`free after ${(performance.now() - began).toFixed(0)} ms`);
  const { tokens } = await getJson(`${url}/v1/serving`);
  await pause(300);
  assert.equal((await getJson(`${url}/v1/serving`)).tokens, tokens, 'no token is drawn without a reader');
});

test('a chain of three answers with the tokens of the whole, and goes on when a shard is killed', { timeout: long ? 1_800_000 : 300_000 }, async (t) => {
  const { url } = await serve(t);
  const caches = [0, 1, 2, 3].map(() => scratch(t));
  const workers = new Map(); // The program of each worker by the worker's key.
  const start = async (cache) => {
    const program = await serving(t, url, { cache });
    const [, key] = await program.says(/joined \S+ as (\S+)/);
    workers.set(key, { program, cache });
  };
  for (const cache of caches) await start(cache);
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 4, 'all serve');
  await addModel(t, url, { name: 'chain', shards: 3 });
  const openai = client(url);
  const count = 480; // Enough tokens that the member is killed before the answer ends.
  const expected = await generated(story, count);
  const ask = { model: 'chain', prompt: story, max_tokens: count, temperature: 0 };

  const unbroken = await openai.completions.create(ask);
  assert.equal(unbroken.weft.shards, 3);
  assert.equal(unbroken.weft.resumed, 0);
  assert.equal(unbroken.choices[0].text, expected.text);

  const pauses = [];
  for (let round = 0; round < (long ? 100 : 4); ++round) {
    // The chain is read before the answer begins, because the list is made four times a second, and
    // an answer takes a quarter of a second.
    const chain = await chainOf(url, workers);
    const stream = await openai.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } });
    let text = '';
    let weft = null;
    let last = performance.now();
    let longest = 0;
    let victim = null;
    let pieces = 0;
    for await (const chunk of stream) {
      const piece = chunk.choices[0]?.text ?? '';
      text += piece;
      weft ??= chunk.weft;
      if (piece) {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
      if (++pieces === 3 + (round % 10) && !victim) {
        victim = chain[round % 3];
        workers.get(victim).program.kill();
        last = performance.now();
        longest = 0;
      }
    }
    assert.equal(text, unbroken.choices[0].text, `round ${round}: not the same text`);
    assert.equal(weft.shards, 3);
    assert.ok(weft.resumed >= 1, `round ${round}: the answer came before the loss`);
    pauses.push(longest);
    const { cache } = workers.get(victim);
    workers.delete(victim);
    await start(cache);
    await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 4, 'the fourth is back');
  }
  pauses.sort((a, b) => a - b);
  t.diagnostic(`longest pause of each answer: median ${pauses[pauses.length >> 1].toFixed(0)} ms, most ${pauses.at(-1).toFixed(0)} ms`);
  const { resumed, failed } = await getJson(`${url}/v1/serving`);
  assert.ok(resumed >= pauses.length);
  assert.equal(failed, 0);
});

/** The workers of the one chain. A stand-by worker also has shards, but does not belong to the chain. */
async function chainOf(url, workers) {
  const status = await getJson(`${url}/v1/serving`);
  return (status.chains[0]?.members ?? []).map(({ worker }) => worker).filter((worker) => workers.has(worker));
}

test('without a worker a request waits a while and is told why; a full queue says when to come back', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  const program = await serving(t, url);
  await addModel(t, url);
  await program.stop();
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 0, 'the worker has left');
  const openai = client(url);
  // Every choice of a request waits separately.
  const waiting = [];
  for (let asked = 0; asked < 1024; asked += 256) {
    waiting.push(...Array.from({ length: 32 }, () => openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 4, temperature: 0, n: 8 })));
    await until(async () => (await getJson(`${url}/v1/serving`)).models[0].waiting === asked + 256, 'all wait');
  }
  const error = await openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 4 }).then(() => null, (problem) => problem);
  assert.equal(error.status, 429);
  assert.equal(error.headers.get('retry-after'), '1');

  // The model is served again when a worker joins.
  await serving(t, url);
  const answers = await Promise.all(waiting);
  assert.equal(new Set(answers.flatMap(({ choices }) => choices.map(({ text }) => text))).size, 1);
});

test('the chat page talks to a model of the network and says who answered', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  await serving(t, url);
  await addModel(t, url);
  const { page, complaints } = await browse(t);
  await page.goto(`${url}/chat`);
  await page.getByRole('button', { name: 'Talk to tiny' }).click();
  await page.getByLabel('Message').fill('What is the capital of Japan?');
  await page.keyboard.press('Enter');
  await page.getByTestId('answer').getByText('The capital of Japan is Tokyo.').waitFor();
  await page.getByTestId('figures').getByText(/tokens, .*; by worker \S{4}…\S{4}/).waitFor();
  await picture(page, 'chat-network');
  assert.deepEqual(complaints, []);
});
