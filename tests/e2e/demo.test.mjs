// The demo, which newcomers run first. It kills a worker half way and closes a tab in the middle of
// an answer, and still ends well: its bytes are those of one machine, and its tokens those of one
// engine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Program, root, run, scratch, weft } from './lib.mjs';

test('the demo ends with two finished jobs, three workers that were paid, a ledger at zero, a picture and an answer', { timeout: 400_000 }, async (t) => {
  const folder = scratch(t);

  const { code, stdout, stderr } = await run(['demo', '--json', '--out', folder], { seconds: 360 });

  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout.trim().split('\n').at(-1));
  assert.equal(report.jobs.length, 2);
  assert.deepEqual(report.jobs.map(({ tasks, accepted }) => tasks === accepted), [true, true]);
  assert.equal(report.jobs[0].tasks, 64);
  assert.deepEqual(report.workers.map(({ kind }) => kind).sort(), ['browser', 'native', 'native']);
  for (const worker of report.workers) assert.ok(worker.tasks > 0 && worker.credits > 0, JSON.stringify(worker));
  assert.equal(report.ledger_sum, 0);
  assert.ok(path.isAbsolute(report.png));
  assert.match(stderr, /killed one native worker/);

  const { answer, shards, transport, resumed, workers } = report.chat;
  assert.deepEqual({ answer, shards, transport }, { answer: 'The capital of Japan is Tokyo.', shards: 3, transport: 'webrtc' });
  assert.ok(resumed >= 1);
  assert.equal(new Set(workers).size, 3);
  const [, before, after] = /was closed at the bar.*"(.*)\|(.*)"/.exec(stderr);
  assert.ok(before && after, 'the tab was closed in the middle');
  assert.equal(before + after, answer);
  const messages = path.join(folder, 'messages.json');
  fs.writeFileSync(messages, JSON.stringify([{ role: 'user', content: 'What is the capital of Japan?' }]));
  const generated = await run(['generate', '--model', path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf'), '--messages', messages, '--device', 'cpu', '--json']);
  assert.equal(JSON.parse(generated.stdout).text, answer);

  const local = await run(['run', path.join(root, 'examples/mandelbrot.json'), '--json', '--png', path.join(folder, 'here.png')]);
  assert.equal(local.code, 0, local.stderr);
  assert.equal(JSON.parse(local.stdout).root, report.jobs[0].root);
  assert.deepEqual(fs.readFileSync(report.png), fs.readFileSync(path.join(folder, 'here.png')));
});

test('interrupted in the middle of the chat, the demo takes everything with it', { timeout: 120_000 }, async (t) => {
  const program = new Program(t, weft, ['demo', '--out', scratch(t)]);
  const [, url] = await program.says(/(http:\/\/\S+) is up/, 60);
  await program.says(/four tabs open/, 60);

  program.child.kill('SIGINT');
  // `ended` also waits for all processes that hold the program's output.
  const { code } = await program.ended;

  assert.notEqual(code, 0);
  await assert.rejects(fetch(`${url}/v1/serving`));
  assert.doesNotMatch(program.stderr, /failed/);
});
