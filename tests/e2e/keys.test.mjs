// API keys and pay, with the official OpenAI client: the limits of a key, the cost of an answer,
// and the workers that earn it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { browse } from './browser.mjs';
import { getJson, root, run, scratch, serve, until, work } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const question = [{ role: 'user', content: 'What is the capital of Japan?' }];
const story = 'KING RICHARD III:\nNow is the winter of';
const price = 2_000_000; // The price in micro-credits for 1,000 tokens.

const client = (url, apiKey) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const failure = (promise) => promise.then(() => assert.fail('It was answered.'), (error) => error);

async function ok(args) {
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Starts a coordinator with a model that one worker serves and others can audit. */
async function network(t, { args = [], devices = ['cpu', 'cpu'] } = {}) {
  const { url, data, program } = await serve(t, { args });
  for (const device of devices) {
    process.env.XDG_CACHE_HOME = scratch(t);
    await work(t, url, { args: ['--device', device] });
  }
  const wallet = path.join(scratch(t), 'client.json');
  await ok(['model', 'add', model, '--name', 'tiny', '--price', String(price / 1e6), '--coordinator', url, '--wallet', wallet, '--wait']);
  const key = async (name, ...limits) =>
    JSON.parse(await ok(['key', 'add', name, ...limits, '--wallet', wallet, '--coordinator', url, '--json'])).secret;
  return { url, data, wallet, key, program };
}

async function metric(url, name) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('a key is shown once, works until it is revoked, and its limits are said as OpenAI says them', { timeout: 180_000 }, async (t) => {
  const { url, wallet, key } = await network(t, { args: ['--require-keys'], devices: ['cpu'] });
  const secret = await key('laptop', '--requests-per-min', '3', '--tokens-per-min', '100000');
  const openai = client(url, secret);

  assert.deepEqual((await openai.models.list()).data.map(({ id, weft }) => [id, weft.price_per_1k_tokens]), [['tiny', price]]);
  const ask = { model: 'tiny', messages: question, temperature: 0 };
  const { data, response } = await openai.chat.completions.create(ask).withResponse();
  assert.equal(data.choices[0].message.content, 'The capital of Japan is Tokyo.');
  assert.equal(response.headers.get('x-ratelimit-limit-requests'), '3');
  assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '2');
  assert.equal(response.headers.get('x-ratelimit-limit-tokens'), '100000');
  assert.match(response.headers.get('x-ratelimit-reset-requests'), /^\d+s$/);
  let streamed = '';
  for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) streamed += chunk.choices[0]?.delta.content ?? '';
  assert.equal(streamed, 'The capital of Japan is Tokyo.');
  await openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 4 });

  const limited = await failure(openai.chat.completions.create(ask));
  assert.ok(limited instanceof OpenAI.RateLimitError, String(limited));
  assert.equal(limited.code, 'rate_limit_exceeded');
  assert.ok(Number(limited.headers.get('retry-after')) >= 1);
  assert.equal(limited.headers.get('x-ratelimit-remaining-requests'), '0');

  for (const wrong of ['weft-unknown', 'none', 'guest-0']) {
    const refused = await failure(client(url, wrong).chat.completions.create(ask));
    assert.ok(refused instanceof OpenAI.AuthenticationError, `${wrong}: ${refused}`);
    assert.equal(refused.code, 'invalid_api_key');
  }
  const bare = await fetch(`${url}/v1/models`);
  assert.equal(bare.status, 401);
  assert.match((await bare.json()).error.message, /No API key was given/);

  const { keys: [listed] } = JSON.parse(await ok(['key', 'list', '--wallet', wallet, '--coordinator', url, '--json']));
  assert.equal(listed.name, 'laptop');
  assert.equal(listed.requests, 3);
  assert.ok(!JSON.stringify(listed).includes(secret.slice(5)), 'the secret is shown once');
  await ok(['key', 'revoke', listed.id, '--wallet', wallet, '--coordinator', url]);
  assert.equal((await failure(openai.models.list())).status, 401);
});

test('a budget ends, also over a restart of the coordinator', { timeout: 180_000 }, async (t) => {
  const { url, data, key, program } = await network(t, { devices: ['cpu'] });
  const secret = await key('small', '--tokens', '60');
  const ask = { model: 'tiny', prompt: 'To be', max_tokens: 20, temperature: 0 };
  const openai = client(url, secret);
  await openai.completions.create(ask);
  await openai.completions.create(ask);
  const over = await failure(openai.completions.create(ask));
  assert.equal(over.status, 429);
  assert.equal(over.code, 'insufficient_quota');
  assert.equal(over.headers.get('x-should-retry'), 'false');
  assert.ok(over.headers.get('retry-after'));

  // The coordinator is stopped, not killed. A killed one may lose the last milliseconds of its
  // records, and an answer is recorded only after its last token was sent.
  await program.stop();
  const again = await serve(t, { data, listen: new URL(url).host });
  assert.equal((await failure(client(again.url, secret).completions.create(ask))).code, 'insufficient_quota');
  // No client needs a key on loopback.
  assert.equal((await client(again.url, 'none').models.list()).data.length, 1);
});

test('an answer is paid by its verified tokens, on the processor and on a GPU alike, and the ledger says so', { timeout: 300_000 }, async (t) => {
  const { url, key, data } = await network(t, { devices: ['cpu', 'gpu'] });
  const openai = client(url, await key('rich'));
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.every(({ shards }) => shards > 0), 'the other one stands by with the model');
  const { choices, usage } = await openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 80, temperature: 0 });
  assert.ok(choices[0].text.length > 0);
  await until(async () => (await metric(url, 'weft_answers_paid_total')) === 1, 'it is verified and paid', 30);
  assert.equal(await metric(url, 'weft_answer_mismatches_total'), 0);

  // The client breaks the answer off and pays for the streamed tokens.
  const stream = await openai.completions.create({ model: 'tiny', prompt: story, max_tokens: 480, temperature: 0, stream: true });
  for await (const chunk of stream) if (chunk.choices[0].text) break;
  stream.controller.abort();
  await until(async () => (await metric(url, 'weft_answers_paid_total')) === 2, 'that one too', 30);
  assert.equal(await metric(url, 'weft_answer_mismatches_total'), 0);

  const { sum, balances } = JSON.parse(await ok(['ledger', '--coordinator', url, '--data', data, '--json']));
  assert.equal(sum, 0);
  assert.ok(!balances.some(({ account }) => account.startsWith('escrow')), 'nothing is left in escrow');
  const { workers } = await getJson(`${url}/v1/workers`);
  const earned = balances.filter(({ account }) => workers.some(({ key: worker }) => account === `granted:${worker}`));
  earned.sort((a, b) => b.amount - a.amount);
  assert.equal(earned.length, 2, 'who answered, and who audited');
  const { entries } = await getJson(`${url}/v1/ledger?account=${earned[0].account}`);
  assert.equal(entries.at(-1).amount, Math.floor((usage.total_tokens * price * 9) / 10_000));
  assert.match(await ok(['ledger', '--coordinator', url, '--data', data, '--account', earned[0].account]), /pays .* for an answer of \d+ tokens, verified by another worker/);
});

test('the page goes on talking where keys are required', { timeout: 180_000 }, async (t) => {
  const { url } = await network(t, { args: ['--require-keys'], devices: ['cpu'] });
  const { page, complaints } = await browse(t);
  await page.goto(`${url}/chat`);
  await page.getByRole('button', { name: 'Talk to tiny' }).click();
  await page.getByLabel('Message').fill('What is the capital of Japan?');
  await page.keyboard.press('Enter');
  await page.getByTestId('answer').getByText('The capital of Japan is Tokyo.').waitFor();
  assert.deepEqual(complaints.filter((text) => !text.includes('401')), []);
});

test('a stake is put down and taken back', { timeout: 120_000 }, async (t) => {
  const data = scratch(t);
  const { url } = await serve(t, { data, args: ['--stakes'] });
  const wallet = path.join(scratch(t), 'wallet.json');
  // The first key grants the wallet the credits of a new client, which cannot be staked.
  await ok(['key', 'add', 'any', '--wallet', wallet, '--coordinator', url]);
  const granted = await run(['stake', 'deposit', '5', '--wallet', wallet, '--coordinator', url]);
  assert.notEqual(granted.code, 0);
  assert.match(granted.stderr, /granted credits cannot be staked/);
  // Credits that the operator was paid for can be staked.
  await ok(['pay', JSON.parse(await ok(['wallet', 'show', '--file', wallet, '--json'])).key, '5', '--issue', '--data', data, '--coordinator', url]);
  const stake = async (...args) => JSON.parse(await ok(['stake', ...args, '--wallet', wallet, '--coordinator', url, '--json']));
  assert.equal((await stake('deposit', '5')).staked, 5_000_000);
  assert.equal((await stake('withdraw', '2')).staked, 3_000_000);
  assert.equal((await stake('show')).free, 3_000_000);
  const { code, stderr } = await run(['stake', 'withdraw', '4', '--wallet', wallet, '--coordinator', url]);
  assert.notEqual(code, 0);
  assert.match(stderr, /3\.000000 of them are free/);
  assert.equal(JSON.parse(await ok(['ledger', '--coordinator', url, '--json'])).sum, 0);
});
