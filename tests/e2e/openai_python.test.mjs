// The same interface, asked by OpenAI's Python client (Debian python3-openai).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { Program, root, run, scratch, serve, work } from './lib.mjs';

const python = '/usr/bin/python3';
const missing = spawnSync(python, ['-c', 'import openai']).status !== 0;

test("OpenAI's Python client", { timeout: 300_000, skip: missing && 'SKIPPED: python3-openai is not installed (scripts/setup --dev)' }, async (t) => {
  const { url } = await serve(t);
  process.env.XDG_CACHE_HOME = scratch(t);
  await work(t, url, { args: ['--device', 'cpu'] });
  const file = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
  const added = await run(['model', 'add', file, '--name', 'tiny', '--coordinator', url, '--wallet', path.join(scratch(t), 'client.json'), '--wait']);
  assert.equal(added.code, 0, added.stderr);

  const client = new Program(t, python, [path.join(root, 'tests/e2e/openai_python.py'), url, 'tiny']);
  const { code } = await client.ended;

  assert.equal(code, 0, client.stderr);
  assert.equal(client.stdout.match(/^ok /gm).length, 9);
});
