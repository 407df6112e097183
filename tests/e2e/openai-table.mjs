// Reads the table of docs/openai.md, and starts the network that tests of its rows use.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { root, run, scratch, serve, work } from './lib.mjs';

const tiny = path.join(root, 'tests/data/tiny');

/** The first cell of each row of the table. */
export function documented() {
  const text = fs.readFileSync(path.join(root, 'docs/openai.md'), 'utf8');
  return [...text.matchAll(/^\| ([^|]+?) \|/gm)].map((match) => match[1]).filter((cell) => cell !== 'feature' && !cell.startsWith('---'));
}

/** Texts, each with the vector that llama.cpp makes of it with the model `vectors`. */
export const embedded = JSON.parse(fs.readFileSync(path.join(tiny, 'expected/tiny-bert-random-f16.json'), 'utf8')).cases.filter(({ text }) => text !== '');
export const cosine = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0) / Math.hypot(...a) / Math.hypot(...b);

/** A network whose two workers serve `tiny` (one alone), `apart` (both together) and `vectors`, at 7 micro-credits for 1,000 tokens: { url, wallet }. */
export async function aNetwork(t, { args = [] } = {}) {
  const { url } = await serve(t, { args });
  for (let i = 0; i < 2; i += 1) {
    process.env.XDG_CACHE_HOME = scratch(t);
    await work(t, url, { args: ['--device', 'cpu'] });
  }
  const wallet = path.join(scratch(t), 'client.json');
  for (const [file, name, shards] of [['tiny-llama-chat-q8_0', 'tiny', 1], ['tiny-llama-chat-q8_0', 'apart', 2], ['tiny-bert-random-f16', 'vectors', 1]]) {
    const { code, stderr } = await run(['model', 'add', path.join(tiny, `${file}.gguf`), '--name', name, '--shards', String(shards), '--price', '0.000007', '--coordinator', url, '--wallet', wallet, '--wait']);
    assert.equal(code, 0, stderr);
  }
  return { url, wallet };
}
