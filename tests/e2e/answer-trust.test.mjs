// x-weft-trust with the official client: which workers an answer comes from, and whether it waits
// for its audit. Modified workers draw other tokens than they were asked to; their answers are
// refuted, and they are convicted.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, root, run, scratch, serve, until, work } from './lib.mjs';
import { lyingServer } from './lying-server.mjs';

const require = createRequire(path.join(root, 'web/package.json'));
const { default: OpenAI } = require('openai');
const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const messages = [{ role: 'user', content: 'What is the capital of Japan?' }];
const answer = 'The capital of Japan is Tokyo.';
const failure = (promise) => promise.then(() => assert.fail('It was answered.'), (error) => error);
const verified = { headers: { 'x-weft-trust': 'verified' } };

/** Starts a worker that is invited as a verifier, whose word convicts. */
async function verifier(t, { url, data }) {
  const { code, stdout, stderr } = await run(['invite', '--verifier', '--data', data]);
  assert.equal(code, 0, stderr);
  return work(t, url, { args: ['--device', 'cpu', '--invite', stdout.trim()] });
}
async function add(t, url) {
  const { code, stderr } = await run(['model', 'add', model, '--name', 'tiny', '--coordinator', url, '--wallet', path.join(scratch(t), 'client.json'), '--wait']);
  assert.equal(code, 0, stderr);
}
const holders = (url, count) => until(async () => {
  const { workers } = await getJson(`${url}/v1/serving`);
  return workers.filter((worker) => worker.shards > 0).length >= count;
}, `${count} workers hold the model`);

test('an answer says whether it is verified, and waits for that where it is asked to', { timeout: 240_000 }, async (t) => {
  const network = await serve(t);
  const { url } = network;
  process.env.XDG_CACHE_HOME = scratch(t);
  await work(t, url, { args: ['--device', 'cpu'] });
  await add(t, url);
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const question = { model: 'tiny', messages, temperature: 0 };

  const plain = await client.chat.completions.create({ ...question, seed: 7 });
  assert.equal(plain.choices[0].message.content, answer);
  assert.deepEqual([plain.weft.trust, plain.weft.seed], ['anyone', 7]);
  const trusted = await client.chat.completions.create(question, { headers: { 'x-weft-trust': 'established' } });
  assert.equal(trusted.weft.trust, 'pending');

  const odd = await failure(client.chat.completions.create(question, { headers: { 'x-weft-trust': 'sure' } }));
  assert.equal(odd.status, 400);
  assert.match(odd.message, /must be "anyone", "established" or "verified"/);

  const auditable = async () => (await getJson(`${url}/v1/models/tiny`)).weft.trust.verified;
  assert.equal(await auditable(), false);
  const alone = await failure(client.chat.completions.create(question, verified));
  assert.equal(alone.status, 503);
  assert.match(alone.message, /no other worker could audit the answer/);
  assert.equal(alone.headers.get('x-weft-trust'), 'pending');

  await verifier(t, network);
  await holders(url, 2);
  assert.equal(await auditable(), true);
  const { data: sure, response } = await client.chat.completions.create(question, verified).withResponse();
  assert.equal(sure.choices[0].message.content, answer);
  assert.equal(sure.weft.trust, 'verified');
  assert.equal(response.headers.get('x-weft-trust'), 'verified');
  const stream = await client.chat.completions.create({ ...question, stream: true }, verified);
  let text = '';
  let last = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    last = chunk;
  }
  assert.equal(text, answer);
  assert.equal(last.weft.trust, 'verified');
});

test('a worker that draws other tokens than its seed and settings give is refuted, and convicted by two verifiers', { timeout: 240_000 }, async (t) => {
  const network = await serve(t);
  const { url } = network;
  process.env.XDG_CACHE_HOME = scratch(t);
  // The worker's engine is honest, but gets a changed request, which forbids the words of the right
  // answer. The worker's fingerprints are those of the text that the engine then writes.
  const left = [];
  const other = (message) => (message.type === 'ask' && !message.audit ? { ...message, bias: left } : message);
  const liar = await lyingServer(t, url, (message) => message, other);
  await work(t, liar.url, { args: ['--device', 'cpu'] });
  await add(t, url);
  const words = await fetch(`${url}/tokenize`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'tiny', content: answer }) });
  for (const token of (await words.json()).tokens) left.push({ token, bias: -100 });
  await verifier(t, network);
  await holders(url, 2);
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const question = { model: 'tiny', messages, temperature: 0, max_tokens: 40 };
  assert.notEqual((await client.chat.completions.create(question)).choices[0].message.content, answer);

  const refuted = await failure(client.chat.completions.create(question, verified));
  assert.equal(refuted.status, 503);
  assert.match(refuted.message, /an audit refuted the answer/);
  assert.equal(refuted.headers.get('x-weft-trust'), 'refuted');
  const streamed = await failure(client.chat.completions.create({ ...question, stream: true }, verified));
  assert.deepEqual([streamed.status, streamed.headers.get('x-weft-trust')], [503, 'refuted'], 'no token of it was told');

  await verifier(t, network);
  await holders(url, 2);
  await until(async () => {
    await client.chat.completions.create(question, verified).catch(() => {});
    const { workers } = await getJson(`${url}/v1/serving`);
    return workers.length === 2;
  }, 'the liar serves no more');
  await until(async () => (await client.chat.completions.create(question, verified).catch(() => null))?.choices[0].message.content === answer, 'the verifiers answer');
});
