// Language models from the command line: the model's chat template, many turns, and the errors for
// inputs that do not fit.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, run, scratch, weft } from './lib.mjs';
import { modelFile } from './model-server.mjs';
import { randomModel } from './random-models.mjs';

const tiny = (name) => path.join(root, 'tests/data/tiny', name);
/** The reason why a test cannot run, because the larger models are read from WEFT_DATA. False if it can run. */
const missing = (name) => (modelFile(name) === null ? `${name} is missing; set WEFT_DATA to the folder that holds it.` : false);
const paris = 'tiny-qwen2-chat-q4_k_m.gguf';

for (const [name, more] of [['tiny-llama-chat-q8_0.gguf', []], ['tiny-qwen35-chat-q8_0.gguf', ['--activations', 'int8']]]) {
  const model = modelFile(name);
  test(`${name} answers two turns of a chat`, { timeout: 120_000, skip: missing(name) }, () => {
    const { status, stdout, stderr } = spawnSync(weft, ['chat', '--model', model, ...more], {
      input: 'What is the capital of Japan?\nWhat is 12 + 30?\n', encoding: 'utf8', timeout: 100_000,
    });
    assert.equal(status, 0, stderr);
    assert.equal(stdout, 'The capital of Japan is Tokyo.\n12 + 30 = 42.\n');
  });
}

test('messages from a file are answered, by the GPU as by the CPU', { timeout: 120_000, skip: missing(paris) }, async (t) => {
  const file = path.join(scratch(t), 'messages.json');
  fs.writeFileSync(file, JSON.stringify([{ role: 'user', content: 'What is the capital of France?' }]));
  for (const device of ['gpu', 'cpu']) {
    const { code, stdout, stderr } = await run(['generate', '--model', modelFile(paris), '--messages', file, '-n', '20', '--device', device, '--json']);
    assert.equal(code, 0, stderr);
    const answer = JSON.parse(stdout);
    assert.equal(answer.text, 'The capital of France is Paris.');
    assert.equal(answer.stop, 'eos');
  }
});

test('invalid conversations, devices and contexts are refused in one sentence', { timeout: 120_000 }, async (t) => {
  const model = tiny('tiny-llama-chat-q8_0.gguf');
  const file = path.join(scratch(t), 'messages.json');
  fs.writeFileSync(file, '{"messages": 3}');
  const wrong = await run(['generate', '--model', model, '--messages', file]);
  assert.equal(wrong.stderr, `weft generate: The input has no list of 'messages'. - while reading ${file}\n`);
  const device = await run(['generate', '--model', model, '--prompt', 'Hi', '--device', 'tpu']);
  assert.equal(device.stderr, "weft generate: The device 'tpu' is not one of gpu and cpu.\n");
  const context = await run(['generate', '--model', model, '--prompt', 'one two three four five six', '--context', '4']);
  assert.match(context.stderr, /^weft generate: The prompt has \d+ tokens; at most 3 fit into the context of 4, which the answer shares \(--context\)\.\n$/);
  for (const { code } of [wrong, device, context]) assert.notEqual(code, 0);
});

test('a text of a model\'s file with control characters is JSON like any other', async (t) => {
  const text = (value) => { const size = Buffer.alloc(8); size.writeBigUInt64LE(BigInt(Buffer.byteLength(value))); return Buffer.concat([size, Buffer.from(value)]); };
  const name = 'a\u0001b\u001f"\\\n';
  const head = Buffer.from('GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0', 'latin1');
  const file = path.join(scratch(t), 'named.gguf');
  fs.writeFileSync(file, Buffer.concat([head, text('general.name'), Buffer.from([8, 0, 0, 0]), text(name), Buffer.alloc(64)]));
  const { code, stdout, stderr } = await run(['inspect', file, '--json']);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).metadata['general.name'], name);
});

test('on a terminal, control characters of an answer and of a file are shown and not obeyed', { timeout: 120_000 }, async (t) => {
  // A model with random weights writes any text, including control characters.
  const file = path.join(scratch(t), 'random.gguf');
  fs.writeFileSync(file, randomModel('llama', 'Q4_1'));
  const command = ['generate', '--model', file, '--prompt', 'The quality of mercy is not strained; it droppeth', '-n', '24', '--device', 'cpu'];
  const controls = /[\x00-\x08\x0b-\x1f\x7f]/;
  const piped = await run(command);
  assert.equal(piped.code, 0, piped.stderr);
  assert.match(piped.stdout, controls, 'a pipe gets what the model says');

  // util-linux's script gives the command a terminal of its own.
  const quoted = [weft, ...command].map((part) => `'${part}'`).join(' ');
  const shown = spawnSync('script', ['-qec', quoted, '/dev/null'], { encoding: 'utf8' });

  assert.equal(shown.status, 0, shown.stderr);
  assert.doesNotMatch(shown.stdout.replaceAll('\r\n', '\n'), controls);
  assert.match(shown.stdout, /\\x[01][0-9a-f]/);
});
