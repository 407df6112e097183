// The option "fallback": "allow". If the network cannot serve a request, another server that the
// operator names answers it (a second coordinator in this test), and the answer says so. The other
// server never answers if the request, its key or the operator does not allow it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { root, run, scratch, serve, until, work } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');
const file = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const messages = [{ role: 'user', content: 'What is the capital of Japan?' }];
const answer = 'The capital of Japan is Tokyo.';
const failure = (promise) => promise.then(() => assert.fail('It was answered.'), (error) => error);

async function addModel(url, wallet, more = []) {
  const { code, stderr } = await run(['model', 'add', file, '--name', 'tiny', '--price', '0.000007', '--coordinator', url, '--wallet', wallet, ...more]);
  assert.equal(code, 0, stderr);
}
async function aKey(url, wallet, more = []) {
  const { code, stdout, stderr } = await run(['key', 'add', 'client', '--coordinator', url, '--wallet', wallet, '--json', ...more]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).secret;
}
async function asked(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^weft_llm_requests_total (\d+)/m.exec(text)[1]);
}

test('another server answers what the network cannot serve, and only if it is allowed to', { timeout: 300_000 }, async (t) => {
  process.env.XDG_CACHE_HOME = scratch(t);
  const wallet = path.join(scratch(t), 'client.json');
  const second = await serve(t, { args: ['--require-keys'] });
  await work(t, second.url, { args: ['--device', 'cpu'] });
  await addModel(second.url, wallet, ['--wait']);
  const keyFile = path.join(scratch(t), 'key');
  fs.writeFileSync(keyFile, `${await aKey(second.url, wallet)}\n`);
  const by = new URL(second.url).host;

  const first = await serve(t, { args: ['--fallback', second.url, '--fallback-key-file', keyFile] });
  await addModel(first.url, wallet);
  const client = (apiKey = 'none') => new OpenAI({ baseURL: `${first.url}/v1`, apiKey, maxRetries: 0 });
  const chat = (more, as = client()) => as.chat.completions.create({ model: 'tiny', messages, temperature: 0, ...more });

  await t.test('with no worker: a document, a stream and a response, each of which says who gave it', async () => {
    const { data, response } = await chat({ fallback: 'allow' }).withResponse();
    assert.equal(data.choices[0].message.content, answer);
    assert.deepEqual(data.weft_fallback, { by, why: 'No worker serves tiny now.' });
    assert.equal(response.headers.get('weft-fallback'), by);
    let heard = '';
    for await (const chunk of await chat({ fallback: 'allow', stream: true })) {
      assert.equal(chunk.weft_fallback.by, by);
      heard += chunk.choices[0]?.delta.content ?? '';
    }
    assert.equal(heard, answer);
    const said = await client().responses.create({ model: 'tiny', input: messages[0].content, temperature: 0, fallback: 'allow' });
    assert.equal(said.weft_fallback.by, by);
    assert.equal(said.output_text, answer);
  });

  await t.test('not where the request or its key does not allow it', async () => {
    const before = await asked(second.url);
    for (const fallback of [undefined, 'never']) assert.equal((await failure(chat({ fallback, deadline_ms: 300 }))).status, 504);
    const here = await aKey(first.url, wallet, ['--no-fallback']);
    assert.match(here, /^weft-here-/);
    const listed = (await run(['key', 'list', '--coordinator', first.url, '--wallet', wallet])).stdout;
    assert.match(listed, /^here-[0-9a-f]{16} .* never +good$/m);
    assert.equal((await failure(chat({ fallback: 'allow', deadline_ms: 300 }, client(here)))).status, 504);
    assert.equal((await failure(chat({ fallback: 'allow', max_price: 6 }, client(here)))).param, 'max_price');
    assert.equal((await failure(chat({ fallback: 'allow', max_price: 6 }, client('weft-unknown')))).status, 401);
    assert.equal((await failure(chat({ fallback: 'yes' }))).param, 'fallback');
    assert.equal((await failure(chat({ fallback: 'allow', temperature: 9 }))).param, 'temperature');
    assert.equal((await failure(chat({ fallback: 'allow', model: 'none' }))).status, 404);
    assert.equal(await asked(second.url), before, 'no part of it was passed on');
    const allowed = await aKey(first.url, wallet);
    assert.match((await run(['key', 'list', '--coordinator', first.url, '--wallet', wallet])).stdout, /^[0-9a-f]{16} .* allow +good$/m);
    assert.equal((await chat({ fallback: 'allow' }, client(allowed))).weft_fallback.by, by);
    assert.equal((await chat({ fallback: 'allow', max_price: 6 }, client(allowed))).weft_fallback.by, by);
  });

  await t.test('not where the network serves it; and for its price, or its deadline', async () => {
    await work(t, first.url, { args: ['--device', 'cpu'] });
    await until(async () => (await (await fetch(`${first.url}/v1/models/tiny`)).json()).weft.state === 'ready', 'the model is served');
    const own = await chat({ fallback: 'allow' });
    assert.deepEqual([own.choices[0].message.content, own.weft_fallback], [answer, undefined]);
    const costly = await chat({ fallback: 'allow', max_price: 6 });
    assert.deepEqual([costly.choices[0].message.content, costly.weft_fallback.by], [answer, by]);
    assert.match(costly.weft_fallback.why, /cost 7 micro-credits; max_price is 6/);

    // Eight other requests occupy all places for longer than the deadline.
    const endings = { 4: -100, 1: -100 };
    const busy = Array.from({ length: 8 }, () => client().completions.create({ model: 'tiny', prompt: 'Once', max_tokens: 400, logit_bias: endings, stream: true }));
    const streams = await Promise.all(busy);
    const late = await chat({ fallback: 'allow', deadline_ms: 1 });
    assert.equal(late.weft_fallback.by, by);
    assert.match(late.weft_fallback.why, /deadline_ms/);
    for (const stream of streams) stream.controller.abort();
  });

  await t.test('where it does not answer either, both are said', async () => {
    await second.program.stop();
    const { status, error } = await failure(chat({ fallback: 'allow', max_price: 6 }));
    assert.equal(status, 400);
    assert.match(error.message, /max_price is 6\. The fallback 127\.0\.0\.1:\d+ did not answer either\./);
  });
});

test('without --fallback nothing is passed on', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  await addModel(url, path.join(scratch(t), 'client.json'));
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  assert.equal((await failure(openai.chat.completions.create({ model: 'tiny', messages, fallback: 'allow', deadline_ms: 300 }))).status, 504);
});
