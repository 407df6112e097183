// One model, many browsers: headless tabs as a chain over WebRTC, asked through the official client; one tab is closed in the middle of
// an answer and a fourth takes its place.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { chromiumFlags, findChromium, loadPlaywright } from '../web/run.mjs';
import { contribute } from './browser.mjs';
import { getJson, root, run, scratch, serve, until, work } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const question = [{ role: 'user', content: 'What is the capital of Japan?' }];
const story = 'KING RICHARD III:\nNow is the winter of';

/** Tabs with storage of their own, and so with wallets of their own. `webgpu: false`: on the processor, which is quicker than a GPU in software. */
async function tabs(t, url, count, { webgpu = true } = {}) {
  const flags = webgpu ? chromiumFlags : [...chromiumFlags.filter((flag) => !/webgpu/.test(flag)), '--disable-features=WebGPU,WebGPUService'];
  const browser = await loadPlaywright().chromium.launch({ executablePath: findChromium(), headless: true, args: [...flags, '--disable-dev-shm-usage'] });
  t.after(() => browser.close());
  const pages = [];
  for (let i = 0; i < count; ++i) {
    const context = await browser.newContext();
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.on('console', (message) => { if (message.type() === 'error') t.diagnostic(`tab ${i}: ${message.text()}`); });
    await contribute(page, url);
    const address = await page.locator('[data-testid="address"]').getAttribute('data-address');
    pages.push({ page, context, address });
  }
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === count, 'all tabs serve', 60);
  return pages;
}

async function addModel(t, url, shards) {
  const wallet = path.join(scratch(t), 'client.json');
  const { code, stderr } = await run(['model', 'add', model, '--name', 'tiny', '--shards', String(shards), '--coordinator', url, '--wallet', wallet, '--wait'], { seconds: 240 });
  assert.equal(code, 0, stderr);
}

async function generated(prompt, count) {
  const { code, stdout, stderr } = await run(['generate', '--model', model, '--prompt', prompt, '-n', String(count), '--device', 'cpu', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).text;
}

for (const webgpu of [false, true]) {
  test(`three tabs are a chain over WebRTC, and a fourth takes the place of one that is closed (${webgpu ? 'WebGPU' : 'processor'})`, { timeout: 600_000 }, async (t) => {
    const { url } = await serve(t);
    const pages = await tabs(t, url, 4, { webgpu });
    await addModel(t, url, 3);
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

    const answer = await openai.chat.completions.create({ model: 'tiny', messages: question, temperature: 0 });
    assert.equal(answer.choices[0].message.content, 'The capital of Japan is Tokyo.');
    assert.equal(answer.weft.shards, 3);
    assert.equal(answer.weft.transport, 'webrtc');
    assert.equal(new Set(answer.weft.workers).size, 3);
    assert.equal((await getJson(`${url}/v1/serving`)).relayed_hops, 0, 'every hop went from tab to tab');

    const count = webgpu ? 32 : 96;
    const ask = { model: 'tiny', prompt: story, max_tokens: count, temperature: 0 };
    const whole = await openai.completions.create(ask);
    assert.equal(whole.weft.resumed, 0);
    if (!webgpu) assert.equal(whole.choices[0].text, await generated(story, count));

    const stream = await openai.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } });
    let text = '';
    let weft = null;
    let pieces = 0;
    let longest = 0;
    let last = 0;
    for await (const chunk of stream) {
      const piece = chunk.choices[0]?.text ?? '';
      text += piece;
      weft ??= chunk.weft;
      if (piece && last) longest = Math.max(longest, performance.now() - last);
      if (piece && last) last = performance.now();
      if (++pieces === 4) {
        const victim = pages.find(({ address }) => address === whole.weft.workers[1]);
        void victim.context.close();
        last = performance.now();
      }
    }
    t.diagnostic(`longest pause ${longest.toFixed(0)} ms, resumed ${weft.resumed}, transport ${weft.transport}`);
    assert.equal(text, whole.choices[0].text, 'the same tokens as without the loss');
    assert.ok(weft.resumed >= 1);
    assert.equal(weft.shards, 3);
    assert.equal(weft.transport, 'webrtc');
  });
}
