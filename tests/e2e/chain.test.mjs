// One model in many browsers: headless tabs form a chain over WebRTC, and the official client sends
// requests to them. Repeatedly a tab is closed in the middle of an answer, and the stand-by tab
// takes its place.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { chromiumFlags, findChromium, loadPlaywright } from '../web/run.mjs';
import { contribute } from './browser.mjs';
import { getJson, long, root, run, scratch, serve, until, work } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const question = [{ role: 'user', content: 'What is the capital of Japan?' }];
const story = 'KING RICHARD III:\nNow is the winter of';

/** Opens tabs with storage and therefore wallets of their own: { page, context } by address. With `webgpu: false` they use the processor, which is faster than a GPU in software. */
async function browse(t, url, { webgpu }) {
  const flags = webgpu ? chromiumFlags : [...chromiumFlags.filter((flag) => !/webgpu/.test(flag)), '--disable-features=WebGPU,WebGPUService'];
  const browser = await loadPlaywright().chromium.launch({ executablePath: findChromium(), headless: true, args: [...flags, '--disable-dev-shm-usage'] });
  t.after(() => browser.close());
  const tabs = new Map();
  const open = async () => {
    const context = await browser.newContext();
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.on('console', (message) => { if (message.type() === 'error') t.diagnostic(`tab ${tabs.size}: ${message.text()}`); });
    await contribute(page, url);
    tabs.set(await page.locator('[data-testid="address"]').getAttribute('data-address'), { page, context });
  };
  return { tabs, open };
}

/** Waits until stand-by workers have the layers of all stages. */
const covered = (url, stages) => until(async () => (await getJson(`${url}/v1/serving`)).models[0].covered === stages, 'a standby has the layers of all stages', 240);

async function addModel(t, url, shards) {
  const wallet = path.join(scratch(t), 'client.json');
  const { code, stderr } = await run(['model', 'add', model, '--name', 'tiny', '--shards', String(shards), '--coordinator', url, '--wallet', wallet, '--wait'], { seconds: 480 });
  assert.equal(code, 0, stderr);
}

async function generated(prompt, count) {
  const { code, stdout, stderr } = await run(['generate', '--model', model, '--prompt', prompt, '-n', String(count), '--device', 'cpu', '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).text;
}

for (const webgpu of [false, true]) {
  // There are fewer rounds on a software GPU, which compiles for half a minute for each new tab.
  const rounds = long ? 10 : webgpu ? 1 : 4;
  const stages = webgpu && !long ? 2 : 3;
  test(`${stages} tabs are a chain over WebRTC, and one more takes the place of one that is closed (${webgpu ? 'WebGPU' : 'processor'})`, { timeout: 900_000 }, async (t) => {
    const { url } = await serve(t);
    const { tabs, open } = await browse(t, url, { webgpu });
    for (let i = 0; i <= stages; ++i) await open();
    await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === stages + 1, 'all tabs serve', 60);
    await addModel(t, url, stages);
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

    const answer = await openai.chat.completions.create({ model: 'tiny', messages: question, temperature: 0 });
    assert.equal(answer.choices[0].message.content, 'The capital of Japan is Tokyo.');
    assert.equal(answer.weft.shards, stages);
    assert.equal(answer.weft.transport, 'webrtc');
    assert.equal(new Set(answer.weft.workers).size, stages);
    assert.equal((await getJson(`${url}/v1/serving`)).relayed_hops, 0, 'every hop went from tab to tab');

    // The answer must be longer than it takes to close a tab, which depends on the machine: an answer that ends before the loss
    // is seen proves nothing, so the next attempt asks for twice as many tokens.
    let count = webgpu ? 32 : 120;
    let ask;
    let whole;
    const reference = async () => {
      ask = { model: 'tiny', prompt: story, max_tokens: count, temperature: 0 };
      // A chain can move to a faster tab while it answers ("a token comes sooner that way"). Then
      // the test asks again.
      for (let tries = 0; ; ++tries) {
        whole = await openai.completions.create(ask);
        if (whole.weft.resumed === 0) break;
        assert.ok(tries < 3, 'three answers in a row were resumed before a tab was closed');
      }
      if (!webgpu) assert.equal(whole.choices[0].text, await generated(story, count));
    };
    await reference();

    let { workers } = whole.weft;
    const pauses = [];
    for (let round = 0; round < rounds;) {
      await covered(url, stages);
      const stream = await openai.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } });
      let text = '';
      let weft = null;
      let pieces = 0;
      let longest = 0;
      let last = 0;
      let closing = null;
      for await (const chunk of stream) {
        const piece = chunk.choices[0]?.text ?? '';
        text += piece;
        weft ??= chunk.weft;
        if (piece && last) longest = Math.max(longest, performance.now() - last);
        if (piece && last) last = performance.now();
        if (++pieces === 2) {
          const victim = workers[round % stages];
          closing = tabs.get(victim).context.close();
          tabs.delete(victim);
          last = performance.now();
        }
      }
      await closing;
      assert.equal(text, whole.choices[0].text, `round ${round}: the same tokens as without the loss`);
      ({ workers } = weft);
      if (weft.resumed === 0) {
        assert.ok(count < 480, 'an answer of 480 tokens ended before a tab was closed');
        count *= 2;
        await open();
        await covered(url, stages);
        await reference();
        ({ workers } = whole.weft);
        continue;
      }
      assert.equal(weft.shards, stages);
      assert.equal(weft.transport, 'webrtc', `round ${round}`);
      pauses.push(longest);
      if (++round < rounds) await open();
    }
    t.diagnostic(`pauses: ${pauses.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  });
}
