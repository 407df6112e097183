// Every architecture of decoders in every weight format, on files with random weights: a tab, and a
// chain of two workers, must give the answers of the plain C++ engine (`weft generate --device
// cpu`, whose formats the tests of engine/gguf compare with ggml's blocks). A quick run tests each
// format once, and each architecture two or three times. A long run (WEFT_LONG) tests all pairs,
// and the GPU of a tab as well. WEFT_ARCHITECTURES=qwen35,qwen3moe tests only the pairs of these
// architectures.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agree } from './answers.mjs';
import { browse } from './browser.mjs';
import { getJson, long, run, scratch, serve, until, work } from './lib.mjs';
import { serveModels } from './model-server.mjs';
import { architectures, formats, randomModel } from './random-models.mjs';

const prompt = 'The quality of mercy is not strained; it droppeth';
const tokens = 10;
const names = Object.keys(architectures);
const every = names.flatMap((architecture) => Object.keys(formats).map((format) => ({ architecture, format })));
const drawn = Object.keys(formats).map((format, i) => ({ architecture: names[i % names.length], format }));
const only = process.env.WEFT_ARCHITECTURES?.split(',');
for (const name of only ?? []) assert.ok(names.includes(name), `WEFT_ARCHITECTURES names ${name}, expected some of ${names.join(', ')}`);
const pairs = (long ? every : drawn).filter(({ architecture }) => !only || only.includes(architecture));

/** The file of a pair of architecture and format, and the answer of the engine in C++: { name, file, bytes, wanted }. */
async function modelOf(folder, { architecture, format }) {
  const name = `${architecture}-${format.toLowerCase()}`;
  const file = path.join(folder, `${name}.gguf`);
  const bytes = randomModel(architecture, format);
  fs.writeFileSync(file, bytes);
  const { code, stdout, stderr } = await run(['generate', '--model', file, '--prompt', prompt, '-n', String(tokens), '--device', 'cpu', '--activations', 'f32', '--kv', 'f32', '--logprobs', '12', '--json']);
  assert.equal(code, 0, `${name}: ${stderr}`);
  return { name, file, bytes, wanted: JSON.parse(stdout) };
}

for (const device of long ? ['cpu', 'gpu'] : ['cpu'])
  test(`each architecture in each weight format answers on the ${device} of a tab what the engine in C++ answers`, { timeout: 3_600_000 }, async (t) => {
    const folder = scratch(t);
    const server = await serveModels(t);
    const { page } = await browse(t);
    await page.goto(server.url);
    let compared = 0;
    for (const pair of pairs) {
      const { name, bytes, wanted } = await modelOf(folder, pair);
      server.files.set(`${name}.gguf`, bytes);
      const { kind, pieces } = await page.evaluate(
        async ({ address, on, text, most }) => {
          const weft = await import('/weft-engine/index.js');
          const model = await weft.load(address, { device: on, kv: 'f32', activations: 'f32', cache: false });
          const said = [];
          for await (const piece of model.generate(text, { maxTokens: most, logprobs: 12 })) said.push(piece);
          await model.dispose();
          return { kind: model.info.device.kind, pieces: said };
        },
        { address: `/models/${name}.gguf`, on: device, text: prompt, most: tokens },
      );
      server.files.delete(`${name}.gguf`);
      assert.equal(kind, device);
      compared += agree(pieces, wanted, name);
      if (long) t.diagnostic(`${name} on the ${device}: as the engine in C++`);
    }
    t.diagnostic(`${pairs.length} models, ${compared} tokens compared`);
    assert.ok(compared >= pairs.length * 5, `only ${compared} tokens of ${pairs.length} models were compared`);
  });

test('each architecture in each weight format answers over two workers what the engine in C++ answers', { timeout: 3_600_000 }, async (t) => {
  const folder = scratch(t);
  const { url, data } = await serve(t);
  const operator = path.join(data, 'coordinator.json');
  for (let i = 0; i < 2; ++i) await work(t, url, { args: ['--device', 'cpu'] });
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 2, 'both workers serve');
  let compared = 0;
  for (const pair of pairs) {
    const { name, file, wanted } = await modelOf(folder, pair);
    const added = await run(['model', 'add', file, '--name', name, '--shards', '2', '--coordinator', url, '--wallet', operator, '--wait']);
    assert.equal(added.code, 0, `${name}: ${added.stderr}`);
    const answer = await fetch(`${url}/v1/completions`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: name, prompt, max_tokens: tokens, temperature: 0 }),
    });
    const said = await answer.json();
    assert.equal(answer.status, 200, `${name}: ${JSON.stringify(said)}`);
    assert.equal(said.weft.shards, 2, name);
    // The text before the first token for which another token is nearly as probable.
    const near = wanted.tokens.findIndex(({ top }) => top[0][1] - top[1][1] < 0.05);
    const sure = wanted.tokens.slice(0, near < 0 ? undefined : near).map(({ text }) => text).join('');
    assert.ok(said.choices[0].text.startsWith(sure), `${name}: "${said.choices[0].text}" does not begin with "${sure}"`);
    if (near < 0) assert.equal(said.choices[0].text, wanted.text, name);
    compared += near < 0 ? wanted.tokens.length : near;
    const removed = await run(['model', 'remove', name, '--coordinator', url, '--wallet', operator]);
    assert.equal(removed.code, 0, removed.stderr);
  }
  t.diagnostic(`${pairs.length} models, ${compared} tokens compared`);
  assert.ok(compared >= pairs.length * 4, `only ${compared} tokens of ${pairs.length} models were compared`);
});
