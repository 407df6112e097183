// `weft chat --network` and `weft embed --network` as programs: they ask a network's models over
// its coordinator, streamed, stopped, with keys and prices.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pause, run, scratch, serve, until, weft, work, root } from './lib.mjs';
import { aNetwork, cosine, embedded } from './openai-table.mjs';

const answer = 'The capital of Japan is Tokyo.';

/** A `weft chat` program, to which the test writes line by line. */
class Talk {
  constructor(t, args, env = {}) {
    this.stdout = '';
    this.stderr = '';
    this.child = spawn(weft, ['chat', '--network', ...args], { env: { ...process.env, WEFT_COORDINATOR: '', WEFT_API_KEY: '', ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdout.on('data', (data) => { this.stdout += data; });
    this.child.stderr.on('data', (data) => { this.stderr += data; });
    this.ended = new Promise((resolve) => this.child.on('close', (code, signal) => resolve({ code, signal })));
    t.after(() => this.child.kill('SIGKILL'));
  }
  say(line) { this.child.stdin.write(`${line}\n`); }
  hears(pattern, where = 'stdout') { return until(() => pattern.exec(this[where]), `${pattern} in ${where}: ${this.stdout} ${this.stderr}`, 30); }
  async end() { this.child.stdin.end(); return this.ended; }
}

test('weft chat --network: answers of a network, with figures; what is wrong in one sentence', { timeout: 300_000 }, async (t) => {
  const { url } = await aNetwork(t);
  const talk = new Talk(t, ['--coordinator', url, '--model', 'tiny', '--temperature', '0']);
  await talk.hears(/^tiny at http:\/\/127\.0\.0\.1:\d+ \(ready\): 0\.000007 credits for 1,000 tokens, context \d+\.$/m, 'stderr');
  talk.say('What is the capital of Japan?');
  await talk.hears(/Tokyo\.\n/);
  talk.say('');
  talk.say('What is 12 + 30?');
  await talk.hears(/Tokyo\.\n[^\n]+\n/);
  assert.deepEqual(await talk.end(), { code: 0, signal: null });
  assert.equal(talk.stdout.split('\n')[0], answer);
  assert.match(talk.stderr, /^\d+ tokens, [\d.]+\/s, the first after [\d.]+ s, by \w{8}$/m);

  // The environment can name the network as well. If it has several models, one must be named.
  const unnamed = new Talk(t, [], { WEFT_COORDINATOR: url });
  assert.equal((await unnamed.end()).code, 2);
  assert.match(unnamed.stderr, /The coordinator serves several models; name one with --model: (apart, tiny|tiny, apart)\./);
  const vectors = new Talk(t, ['--coordinator', url, '--model', 'vectors']);
  assert.equal((await vectors.end()).code, 2);
  assert.match(vectors.stderr, /has no model vectors whose output is text/);
  const costly = new Talk(t, ['--coordinator', url, '--model', 'tiny', '--max-price', '0.000006']);
  costly.say('Hello');
  assert.equal((await costly.end()).code, 2);
  assert.match(costly.stderr, /max_price is 6/);
  const unreached = new Talk(t, ['--coordinator', 'http://127.0.0.1:1', '--model', 'tiny']);
  assert.equal((await unreached.end()).code, 3);
  assert.match(unreached.stderr, /http:\/\/127\.0\.0\.1:1 cannot be reached/);
  const nowhere = new Talk(t, ['--model', 'tiny']);
  assert.equal((await nowhere.end()).code, 2);
  assert.match(nowhere.stderr, /--coordinator/);

  const texts = path.join(scratch(t), 'texts');
  const cases = embedded.filter(({ text }) => !/[\n\r\0]/.test(text));
  fs.writeFileSync(texts, cases.map(({ text }) => `${text}\n`).join(''));
  const made = await run(['embed', '--network', '--coordinator', url, '--model', 'vectors', '--file', texts, '--json']);
  assert.equal(made.code, 0, made.stderr);
  const { data, usage, model } = JSON.parse(made.stdout);
  assert.deepEqual([data.length, model, usage.prompt_tokens], [cases.length, 'vectors', cases.reduce((sum, { tokens }) => sum + tokens.length, 0)]);
  for (const { index, embedding } of data) assert.ok(cosine(embedding, cases[index].embedding) >= 0.9999);
  const only = await run(['embed', '--coordinator', url, '--dimensions', '8', cases[0].text]);
  assert.equal(only.stdout.trim().split(' ').length, 8, only.stderr);
  const refused = await run(['embed', '--coordinator', url, '--dimensions', '97', 'x']);
  assert.deepEqual([refused.code, /the vectors of 'vectors' have 96/.test(refused.stderr)], [2, true], refused.stderr);
});

test('weft chat --network: Ctrl-C ends an answer and keeps the conversation; a key pays', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--require-keys'] });
  process.env.XDG_CACHE_HOME = scratch(t);
  const worker = await work(t, url, { args: ['--device', 'cpu'] });
  const wallet = path.join(scratch(t), 'client.json');
  const file = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
  const added = await run(['model', 'add', file, '--name', 'tiny', '--price', '1', '--coordinator', url, '--wallet', wallet, '--wait']);
  assert.equal(added.code, 0, added.stderr);

  const without = new Talk(t, ['--coordinator', url]);
  assert.notEqual((await without.end()).code, 0);
  assert.match(without.stderr, /weft chat: No API key was given/);

  const { stdout } = await run(['key', 'add', 'me', '--coordinator', url, '--wallet', wallet, '--json']);
  const key = path.join(scratch(t), 'key');
  fs.writeFileSync(key, `${JSON.parse(stdout).secret}\n`);
  const talk = new Talk(t, ['--coordinator', url, '--api-key-file', key, '--temperature', '0']);
  talk.say('What is the capital of Japan?');
  await talk.hears(/Tokyo\.\n/);
  await talk.hears(/about 0\.0310\d\d credits, by/, 'stderr');

  // A silent worker: the answer does not come, and Ctrl-C ends it.
  worker.signal('SIGSTOP');
  talk.say('And of France?');
  await pause(300);
  talk.child.kill('SIGINT');
  await talk.hears(/Tokyo\.\n \[\.\.\.\]\n/);
  worker.signal('SIGCONT');
  talk.say('What is the capital of Japan?');
  await talk.hears(/\[\.\.\.\]\n[^\n]+\n/);
  // If there is no answer to end, Ctrl-C ends the program.
  talk.child.kill('SIGINT');
  assert.deepEqual(await talk.ended, { code: 0, signal: null });
});
