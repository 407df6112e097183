// `weft embed` as a program: it gives the vectors of llama.cpp in every form of output, and
// describes an error in one sentence.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { browse, contribute } from './browser.mjs';
import { root, run, scratch, serve, work } from './lib.mjs';

const folder = path.join(root, 'tests/data/tiny');
const cosine = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0) / Math.hypot(...a) / Math.hypot(...b);

const models = ['tiny-bert-random-f16', 'tiny-nomic-bert-random-f16'];
for (const [name, device] of models.flatMap((one) => [[one, 'gpu'], [one, 'cpu']])) {
  test(`weft embed with ${name} on ${device}`, { timeout: 60_000 }, async (t) => {
    const model = path.join(folder, `${name}.gguf`);
    const cases = JSON.parse(fs.readFileSync(path.join(folder, 'expected', `${name}.json`), 'utf8')).cases.filter(({ text }) => text !== '' && !/[\n\r\0]/.test(text));
    const file = path.join(scratch(t), 'texts');
    fs.writeFileSync(file, cases.map(({ text }) => `${text}\n`).join(''));

    const { code, stdout, stderr } = await run(['embed', '--model', model, '--device', device, '--file', file, '--json']);
    assert.equal(code, 0, stderr);
    const { data, usage } = JSON.parse(stdout);
    assert.equal(data.length, cases.length);
    for (const { index, embedding } of data) assert.ok(cosine(embedding, cases[index].embedding) >= 0.9999, cases[index].text);
    assert.equal(usage.prompt_tokens, cases.reduce((sum, { tokens }) => sum + tokens.length, 0));

    const [{ text, embedding }] = cases;
    const plain = await run(['embed', '--model', model, '--device', device, text]);
    assert.deepEqual(plain.stdout.trim().split(' ').map(Number), data[0].embedding);
    const packed = await run(['embed', '--model', model, '--device', device, '--base64', text]);
    const bytes = Buffer.from(packed.stdout.trim(), 'base64');
    assert.ok(cosine([...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)], embedding) >= 0.9999);
    const short = (await run(['embed', '--model', model, '--device', device, '--dimensions', '8', text])).stdout.trim().split(' ').map(Number);
    assert.equal(short.length, 8);
    assert.ok(Math.abs(Math.hypot(...short) - 1) < 1e-5);
    assert.ok(cosine(short, embedding.slice(0, 8)) >= 0.9999);
  });
}

test('weft bench embed says what it measured', { timeout: 60_000 }, async () => {
  const model = path.join(folder, 'tiny-bert-random-f16.gguf');
  const { code, stdout, stderr } = await run(['bench', 'embed', '--model', model, '--texts', '3', '--tokens', '20', '--rounds', '3', '--json']);
  assert.equal(code, 0, stderr);
  const { value, min, max, values, ...rest } = JSON.parse(stdout);
  assert.ok(min > 0 && min <= value && value <= max && values.length === 3, stdout);
  assert.deepEqual([rest.model, rest.test, rest.unit, rest.architecture, rest.activations], ['tiny-bert-random-f16.gguf', '3x20', 'token/s', 'bert', 'f32']);
  const long = await run(['bench', 'embed', '--model', model, '--tokens', '513']);
  assert.match(long.stderr, /The text has 513 tokens; the model reads at most 512\./);
});

test('weft embed says what is wrong', { timeout: 60_000 }, async () => {
  const llama = await run(['embed', '--model', path.join(folder, 'tiny-llama-chat-q8_0.gguf'), 'x']);
  assert.equal(llama.code, 2);
  assert.match(llama.stderr, /The architecture 'llama' embeds no texts; bert and nomic-bert do\./);
  const bert = path.join(folder, 'tiny-bert-random-f16.gguf');
  const device = await run(['embed', '--model', bert, '--device', 'tpu', 'x']);
  assert.match(device.stderr, /The device 'tpu' is not one of gpu and cpu\./);
  const wide = await run(['embed', '--model', bert, '--dimensions', '97', 'x']);
  assert.match(wide.stderr, /--dimensions is 97; the model's vectors have 96\./);
  const long = await run(['embed', '--model', bert, 'the '.repeat(511)]);
  assert.equal(long.code, 2);
  assert.match(long.stderr, /The text has 513 tokens; the model reads at most 512\./);
});

const file = 'tiny-nomic-bert-random-f16';

async function embedsAsLlamaCpp(t, url) {
  const wallet = path.join(scratch(t), 'client.json');
  const added = await run(['model', 'add', path.join(folder, `${file}.gguf`), '--name', 'vectors', '--coordinator', url, '--wallet', wallet, '--wait']);
  assert.equal(added.code, 0, added.stderr);
  const cases = JSON.parse(fs.readFileSync(path.join(folder, 'expected', `${file}.json`), 'utf8')).cases.filter(({ text }) => text !== '');
  const answer = await fetch(`${url}/v1/embeddings`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ model: 'vectors', input: cases.map(({ text }) => text) }),
  });
  const document = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(document));
  assert.equal(document.data.length, cases.length);
  for (const { index, embedding } of document.data) assert.ok(cosine(embedding, cases[index].embedding) >= 0.9999, cases[index].text);
}

test('a worker makes the vectors of /v1/embeddings on its GPU', { timeout: 180_000 }, async (t) => {
  process.env.XDG_CACHE_HOME = scratch(t);
  const { url } = await serve(t);
  const worker = await work(t, url, { args: ['--device', 'gpu'] });
  await embedsAsLlamaCpp(t, url);
  assert.doesNotMatch(worker.output(), /error/i);
});

test('a tab makes the vectors of /v1/embeddings on its GPU', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await browse(t);
  await contribute(page, url);
  await embedsAsLlamaCpp(t, url);
  assert.deepEqual(complaints, []);
});
