// The table of docs/openai.md, tested with OpenAI's Python client (Debian python3-openai).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Program, root, scratch } from './lib.mjs';
import { aNetwork, documented, embedded } from './openai-table.mjs';

const python = '/usr/bin/python3';
const missing = spawnSync(python, ['-c', 'import openai']).status !== 0;

test("OpenAI's Python client", { timeout: 600_000, skip: missing && 'SKIPPED: python3-openai is not installed (scripts/setup --dev)' }, async (t) => {
  const { url } = await aNetwork(t);
  const vectors = path.join(scratch(t), 'vectors.json');
  fs.writeFileSync(vectors, JSON.stringify(embedded));

  const client = new Program(t, python, [path.join(root, 'tests/e2e/openai_python.py'), url, vectors]);
  const { code } = await client.ended;

  assert.equal(code, 0, client.output());
  assert.deepEqual([...client.stdout.matchAll(/^ok (.*)$/gm)].map(([, row]) => row), documented(), 'each row of docs/openai.md is asked');
});
