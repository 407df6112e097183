// Direct connections between native workers: a chain of three sends its hops over TLS from worker
// to worker, continues when one worker is killed, and uses the coordinator's relay if direct
// connections are forbidden or break.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, pause, root, run, scratch, serve, until, work } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const story = 'KING RICHARD III:\nNow is the winter of';
const count = 160;
const ask = { model: 'chain', prompt: story, max_tokens: count, temperature: 0 };

const client = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
const status = (url) => getJson(`${url}/v1/serving`);

async function addModel(t, url, more = []) {
  const wallet = path.join(scratch(t), 'client.json');
  const { code, stderr } = await run(['model', 'add', model, '--name', 'chain', '--shards', '3', '--coordinator', url, '--wallet', wallet, '--wait', ...more]);
  assert.equal(code, 0, stderr);
}

/** Workers by their keys. */
async function workers(t, url, number, args = []) {
  const out = new Map();
  for (let i = 0; i < number; ++i) {
    process.env.XDG_CACHE_HOME = scratch(t);
    const program = await work(t, url, { args: ['--device', 'cpu', ...args] });
    const [, key] = await program.says(/joined \S+ as (\S+)/);
    out.set(key, program);
  }
  await until(async () => (await status(url)).workers.length === number, 'all serve');
  return out;
}

async function generated() {
  const { code, stdout, stderr } = await run(['generate', '--model', model, '--prompt', story, '-n', String(count), '--device', 'cpu', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).text;
}

test('a chain of three hops from worker to worker and goes on when one is killed', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const programs = await workers(t, url, 4);
  await addModel(t, url);
  const openai = client(url);
  const expected = await generated();

  const whole = await openai.completions.create(ask);
  assert.equal(whole.choices[0].text, expected);
  assert.equal(whole.weft.transport, 'tcp');
  assert.equal(whole.weft.shards, 3);
  await pause(1200); // Waits for the time of two heartbeats.
  const seen = await status(url);
  assert.equal(seen.relayed_hops, 0, 'nothing went over the coordinator');
  assert.ok(seen.direct_hops >= 2 * count, `${seen.direct_hops} hops`);
  const [chain] = seen.chains;
  assert.equal(chain.transport, 'tcp');
  assert.equal(chain.members.length, 3);
  const members = seen.workers.filter(({ worker }) => chain.members.some((member) => member.worker === worker));
  for (const { worker, peers, lines, load } of members) {
    assert.equal(peers.length, 2, `${worker} measured the way to both others`);
    for (const { ms } of peers) assert.ok(ms > 0 && ms < 1000);
    assert.equal(lines[0], 'tcp', 'how, and not where');
    assert.ok(load >= 0 && load <= 1);
  }
  for (const { ms } of chain.members) assert.ok(ms > 0, 'how long a token takes there');

  const stream = await openai.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } });
  let text = '';
  let weft = null;
  let pieces = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.text ?? '';
    weft ??= chunk.weft;
    if (++pieces === 5) programs.get(chain.members[1].worker).kill();
  }
  assert.equal(text, expected);
  assert.ok(weft.resumed >= 1);
  assert.equal(weft.transport, 'tcp');
  const after = await status(url);
  assert.equal(after.failed, 0);
});

test('where direct lines are forbidden the coordinator relays', { timeout: 200_000 }, async (t) => {
  const { url } = await serve(t);
  await workers(t, url, 3, ['--peer-listen', 'none']);
  await addModel(t, url);
  const whole = await client(url).completions.create(ask);
  assert.equal(whole.choices[0].text, await generated());
  assert.equal(whole.weft.transport, 'relay');
  const { relayed_hops, direct_hops, workers: all } = await status(url);
  assert.ok(relayed_hops >= 2 * count);
  assert.equal(direct_hops, 0);
  for (const { lines } of all) assert.deepEqual(lines, []);
});

test('the coordinator relays if no worker answers at the offered address', { timeout: 200_000 }, async (t) => {
  const { url } = await serve(t);
  await workers(t, url, 3, ['--peer-address', '127.0.0.1:1']);
  await addModel(t, url);
  const whole = await client(url).completions.create(ask);
  assert.equal(whole.weft.transport, 'relay');
  assert.equal(whole.choices[0].text, await generated());
});

test('over TLS, and with fewer bytes a hop', { timeout: 200_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--tls-self-signed', '--wire', 'f16'] });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.after(() => { delete process.env.NODE_TLS_REJECT_UNAUTHORIZED; });
  await workers(t, url, 3, ['--tls-insecure']);
  await addModel(t, url, ['--tls-insecure']);
  const whole = await client(url).completions.create({ ...ask, max_tokens: 24 });
  assert.equal(whole.weft.transport, 'tcp');
  assert.equal((await status(url)).chains[0].wire, 'f16');
  assert.equal(whole.choices[0].text.length > 0, true);
});

test('what cannot be is said', { timeout: 60_000 }, async (t) => {
  const data = scratch(t);
  const wrong = async (args, message) => {
    const { code, stderr } = await run(['serve', '--listen', '127.0.0.1:0', '--data', data, ...args]);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  };
  await wrong(['--partition', 'spatial'], /no rows and columns/);
  await wrong(['--ice-servers', '[{"urls":"turn:a"}]'], /neither a secret nor username and credential/);
  await wrong(['--ice-servers', 'nowhere.json'], /neither a JSON array nor a file/);
});
