// The package `weft-engine` in a real Chromium: models answer like llama.cpp, files come from every
// supported source, and every error is one sentence with a code.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agree } from './answers.mjs';
import { browse } from './browser.mjs';
import { long, root, until } from './lib.mjs';
import { modelFile, serveModels } from './model-server.mjs';

const llama = 'tiny-llama-chat-q8_0.gguf';
const question = [{ role: 'user', content: 'What is the capital of Japan?' }];
const story = 'KING RICHARD III:\nNow is the winter of';

/** Opens a page that has the package as `weft`, and starts its server. */
async function open(t, options) {
  const server = await serveModels(t);
  const browser = await browse(t, options);
  await browser.page.goto(server.url);
  await browser.page.evaluate(async () => {
    globalThis.weft = await import('/weft-engine/index.js');
    globalThis.collect = async (answer) => {
      const pieces = [];
      for await (const piece of answer) pieces.push(piece);
      return { pieces, summary: await answer.summary };
    };
    // The test gets errors as plain objects.
    globalThis.failure = (promise) =>
      promise.then(
        () => null,
        (error) => ({ name: error.name, code: error.code, message: error.message, isWeftError: error instanceof globalThis.weft.WeftError }),
      );
  });
  return { ...server, ...browser };
}

const workersEnd = (page) => until(() => page.workers().length === 0, 'the Worker has ended', 10);

function expected(name) {
  const file = path.join(root, 'tests/data/tiny/expected', name.replace('.gguf', '.json'));
  return JSON.parse(fs.readFileSync(file, 'utf8')).cases;
}

const devices = [
  { device: 'cpu', cases: 18, maxTokens: 48 },
  { device: 'gpu', cases: 4, maxTokens: 10 },
];

for (const { device, cases, maxTokens } of devices) {
  test(`the small models answer on the ${device} what llama.cpp answers, by their templates and tokenizers`, async (t) => {
    const { page } = await open(t);
    // A software GPU compiles for half a minute for each file, so that the quick run takes only the
    // file with the most kinds of kernels. (The test of a lost GPU runs llama on a GPU.)
    for (const name of [llama, 'tiny-qwen2-short-q4_k_m.gguf', 'tiny-qwen35-short-q4_k_m.gguf'].slice(device === 'gpu' && !long ? -1 : 0)) {
      const rows = expected(name).slice(-cases);

      const { info, results } = await page.evaluate(
        async ({ address, options, list, most }) => {
          const model = await weft.load(address, options);
          const out = [];
          for (const one of list) {
            const rendered = one.messages ? await model.render(one.messages) : one.prompt;
            const tokens = await model.tokenize(one.prompt, { addSpecial: true, parseSpecial: true });
            const { pieces, summary } = await collect(model.generate(one.messages ?? one.prompt, { maxTokens: most, logprobs: 12 }));
            out.push({ rendered, tokens, pieces, summary, again: await model.detokenize(tokens) });
          }
          await model.dispose();
          return { info: model.info, results: out };
        },
        { address: `/models/${name}`, options: { device, kv: 'f32', activations: 'f32' }, list: rows, most: maxTokens },
      );

      assert.equal(info.device.kind, device);
      let compared = 0;
      for (const [i, row] of rows.entries()) {
        const { rendered, tokens, pieces, summary, again } = results[i];
        // The oracle's prompt has no BOS, because the tokenizer adds it.
        assert.equal(rendered.replace(/^<\|begin_of_text\|>/, ''), row.prompt);
        assert.equal(again.replace(/^<\|begin_of_text\|>/, ''), row.prompt);
        assert.deepEqual(tokens, row.prompt_tokens);
        assert.equal(pieces.map(({ text }) => text).join(''), summary.text);
        assert.equal(summary.promptTokens, row.prompt_tokens.length);
        compared += agree(pieces, row, `${name}, case ${i}`);
      }
      t.diagnostic(`${name} on ${info.device.name}: ${compared} tokens compared`);
      assert.ok(compared >= Math.min(100, cases * 8), `${name}: only ${compared} tokens compared`);
    }
  });
}

// Small files with random weights (tests/data/tiny/make_random.py). The GPU, which is a processor
// here, runs a mixture of experts; in long runs it runs all files.
const others = ['tiny-qwen3moe-random-q4_k_m.gguf', 'tiny-gemma3-random-q8_0.gguf', 'tiny-qwen3-random-f16.gguf', 'tiny-mistral-random-f16.gguf', 'tiny-mistral3-random-f16.gguf'];

for (const { device, cases, maxTokens } of [{ device: 'cpu', cases: 5, maxTokens: 40 }, { device: 'gpu', cases: 2, maxTokens: 10 }]) {
  test(`models of other architectures answer on the ${device} of a tab what llama.cpp answers`, { timeout: 600_000 }, async (t) => {
    const { page } = await open(t);
    for (const name of device === 'gpu' && !long ? others.slice(0, 1) : others) {
      const rows = expected(name).filter(({ tokens }) => tokens.length > 0).slice(0, cases);

      const { kind, results } = await page.evaluate(
        async ({ address, options, list, most }) => {
          const model = await weft.load(address, options);
          const out = [];
          for (const { prompt } of list) {
            const tokens = await model.tokenize(prompt, { addSpecial: true, parseSpecial: true });
            out.push({ tokens, pieces: (await collect(model.generate(prompt, { maxTokens: most, logprobs: 12 }))).pieces });
          }
          await model.dispose();
          return { kind: model.info.device.kind, results: out };
        },
        { address: `/models/${name}`, options: { device, kv: 'f32', activations: 'f32' }, list: rows, most: maxTokens },
      );

      assert.equal(kind, device);
      let compared = 0;
      for (const [i, row] of rows.entries()) {
        assert.deepEqual(results[i].tokens, row.prompt_tokens);
        compared += agree(results[i].pieces, row, `${name}, case ${i}`);
      }
      t.diagnostic(`${name}: ${compared} tokens compared`);
      assert.ok(compared >= cases * 4, `${name}: only ${compared} tokens compared`);
    }
  });
}

test('nothing loads before load(), a file from the network is kept, and the next load reads what was kept, even offline', async (t) => {
  const { page, url, requests, line } = await open(t);
  assert.deepEqual(requests.filter(({ path: name }) => /weft_llm|model-worker|models/.test(name)), []);
  const load = () =>
    page.evaluate(async () => {
      const progress = [];
      const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu', onProgress: (one) => progress.push(one) });
      const { summary } = await collect(model.generate([{ role: 'user', content: 'What is the capital of Japan?' }]));
      await model.dispose();
      return { info: model.info, progress, summary, stored: await weft.storedModels() };
    });
  const bytes = fs.statSync(modelFile(llama)).size;

  const first = await load();
  const second = await load();
  line.down = true;
  const offline = await load();

  assert.equal(first.info.origin, 'network');
  assert.equal(first.info.fileBytes, bytes);
  assert.deepEqual([...new Set(first.progress.map(({ phase }) => phase))], ['download', 'weights']);
  assert.deepEqual(first.progress.at(-1), { phase: 'weights', loaded: bytes, total: bytes });
  assert.deepEqual(first.stored.map(({ key: _, ...rest }) => rest), [{ url: `${url}/models/${llama}`, bytes, complete: true }]);
  for (const later of [second, offline]) {
    assert.equal(later.info.origin, 'cache');
    assert.deepEqual([...new Set(later.progress.map(({ phase }) => phase))], ['cache', 'weights']);
    assert.equal(later.summary.text, 'The capital of Japan is Tokyo.');
    assert.equal(later.summary.stop, 'eos');
  }
  await page.evaluate(async () => weft.removeStoredModel((await weft.storedModels())[0].key));
  assert.deepEqual(await page.evaluate(() => weft.storedModels()), []);
});

test('a broken download goes on where it ended; a wrong hash is found and a missing file named', async (t) => {
  const { page, url, requests, line } = await open(t);
  const bytes = fs.readFileSync(modelFile(llama));
  const sha256 = crypto.createHash('sha256').update(bytes).digest('hex');
  const fail = (name, options = {}) => page.evaluate(([file, given]) => failure(weft.load(`/models/${file}`, { device: 'cpu', ...given })), [name, options]);

  line.breakAfter = 2 << 20;
  const broken = await fail(llama, { sha256 });
  assert.equal(broken.code, 'unavailable');
  assert.match(broken.message, /^The download of http.*q8_0\.gguf broke off: .*\.$/);
  const [part] = await page.evaluate(() => weft.storedModels());
  assert.equal(part.complete, false);
  line.breakAfter = Infinity;

  const info = await page.evaluate(async (hash) => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu', sha256: hash });
    await model.dispose();
    return model.info;
  }, sha256);

  assert.equal(info.origin, 'network');
  const ranges = requests.filter(({ range }) => range !== '').map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range)[1]));
  assert.equal(ranges.length, 1);
  assert.ok(ranges[0] > 0 && ranges[0] <= 2 << 20, `it went on at ${ranges[0]}`);

  const other = 'f'.repeat(64);
  assert.deepEqual(await fail(llama, { sha256: other }), {
    name: 'LoadError', code: 'data_loss', isWeftError: true, message: `${url}/models/${llama} has the SHA-256 ${sha256} and not ${other}.`,
  });
  assert.deepEqual(await fail('none.gguf'), { name: 'LoadError', code: 'not_found', isWeftError: true, message: `${url}/models/none.gguf answered 404.` });
  line.down = true;
  assert.match((await fail('other.gguf')).message, /^http.*other\.gguf cannot be reached: /);
});

test('a load can be given up while it downloads, and keeps what has come', async (t) => {
  const { page, line } = await open(t);
  line.bytesPerMs = 512;

  const found = await page.evaluate(async () => {
    const controller = new AbortController();
    const onProgress = ({ loaded }) => {
      if (loaded > 1 << 20) controller.abort();
    };
    return failure(weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu', signal: controller.signal, onProgress }));
  });

  assert.deepEqual(found, { name: 'CancelledError', code: 'cancelled', isWeftError: true, message: 'Loading the model was cancelled.' });
  await workersEnd(page);
  const [part] = await page.evaluate(() => weft.storedModels());
  assert.equal(part.complete, false);
});

test('a dropped file and bytes in memory work like an address, without the storage', async (t) => {
  const { page } = await open(t);
  await page.locator('#file').setInputFiles(modelFile(llama));

  const found = await page.evaluate(async () => {
    const out = [];
    const file = document.querySelector('#file').files[0];
    for (const [source, cache] of [[file, true], [await file.arrayBuffer(), true], [new URL('/models/tiny-llama-chat-q8_0.gguf', location.href), false]]) {
      const model = await weft.load(source, { device: 'cpu', cache });
      const { summary } = await collect(model.generate([{ role: 'user', content: 'What is the capital of Japan?' }]));
      out.push([model.info.origin, summary.text]);
      await model.dispose();
    }
    return { out, stored: await weft.storedModels() };
  });

  const text = 'The capital of Japan is Tokyo.';
  assert.deepEqual(found, { out: [['file', text], ['memory', text], ['network', text]], stored: [] });
});

test('a file that is not a model, and one that is cut off, are refused with one exact sentence', async (t) => {
  const { page, files } = await open(t);
  const whole = fs.readFileSync(modelFile(llama));
  files.set('text.gguf', Buffer.from('This is not a model at all, but a text of some length.'));
  files.set('cut.gguf', whole.subarray(0, whole.length - 1000));
  files.set('empty.gguf', Buffer.alloc(0));
  const fail = (name, options = { device: 'cpu' }) => page.evaluate(([file, given]) => failure(weft.load(`/models/${file}`, given)), [name, options]);

  assert.deepEqual(await fail('text.gguf'), { name: 'LoadError', code: 'invalid_argument', isWeftError: true, message: "The file begins with 0x54686973, not with 'GGUF'." });
  assert.equal((await fail('cut.gguf')).message, "The tensor 'blk.5.ffn_up.weight' (208896 bytes at 5653504) lies past the end of the data (5861400 bytes); the file is incomplete.");
  assert.deepEqual((await fail('empty.gguf')).message, 'The file ends (at byte 0) inside the magic number, which needs 4 bytes at 0.');
  assert.deepEqual((await fail(llama, { device: 'npu' })).message, "The device 'npu' is not one of auto, gpu and cpu.");
  assert.deepEqual((await fail(llama, { device: 'cpu', context: 1 << 30 })).code, 'invalid_argument');
  assert.deepEqual((await page.evaluate(() => failure(weft.load('http://')))).message, "'http://' is not an address of a model.");
  await workersEnd(page);
});

test('an answer ends within a token when its reader leaves or its signal says so, also while it waits', async (t) => {
  const { page } = await open(t);

  const found = await page.evaluate(async (prompt) => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu', context: 1024 });
    const left = model.generate(prompt, { maxTokens: 900 });
    let read = 0;
    for await (const _ of left) if (++read === 3) break;

    const controller = new AbortController();
    const stopped = model.generate(prompt, { maxTokens: 900, signal: controller.signal });
    const waiting = model.generate(prompt, { maxTokens: 5, signal: controller.signal });
    let heard = 0;
    for await (const _ of stopped) if (++heard === 3) controller.abort();

    const long = model.generate(`${prompt} `.repeat(60), { maxTokens: 5, signal: AbortSignal.timeout(30) });
    const after = await collect(model.generate([{ role: 'user', content: 'What is the capital of Japan?' }]));
    return { left: await left.summary, stopped: await stopped.summary, waiting: await waiting.summary, long: await long.summary, after: after.summary.text };
  }, story);

  for (const one of [found.left, found.stopped, found.waiting, found.long]) assert.equal(one.stop, 'cancelled');
  assert.ok(found.left.tokens < 40 && found.stopped.tokens < 40, `${found.left.tokens} and ${found.stopped.tokens} tokens were drawn`);
  assert.equal(found.waiting.tokens, 0);
  assert.ok(found.long.promptTokens < 600, `${found.long.promptTokens} tokens were read`);
  assert.equal(found.after, 'The capital of Japan is Tokyo.');
});

test('answers at the same time are those alone; sampling, stop texts, bounds and template options reach the engine', async (t) => {
  const { page } = await open(t);

  const found = await page.evaluate(async (prompt) => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu', context: 256, sequences: 3 });
    const warm = { temperature: 0.8, topK: 20, topP: 0.95, minP: 0.01, repetitionPenalty: 1.1, presencePenalty: 0.1, frequencyPenalty: 0.1, maxTokens: 16 };
    const alone = [];
    for (const seed of [1, 2, 3, 4, 5]) alone.push((await collect(model.generate(prompt, { ...warm, seed }))).summary.text);
    const together = await Promise.all([1, 2, 3, 4, 5].map((seed) => collect(model.generate(prompt, { ...warm, seed }))));
    const ask = [{ role: 'user', content: 'What is the capital of Japan?' }];
    return {
      alone,
      together: together.map(({ summary }) => summary.text),
      stopped: (await collect(model.generate(ask, { stop: [' Tok'] }))).summary,
      turn: (await collect(model.generate([...ask, { role: 'assistant', content: 'The capital of Japan is Tokyo.' }, { role: 'user', content: 'Who are you?' }]))).summary,
      short: (await collect(model.generate(ask, { maxTokens: 2 }))).summary,
      raw: await model.render(ask, { addGenerationPrompt: false }),
      long: await failure(collect(model.generate(`${prompt} `.repeat(60)))),
      bad: await failure(collect(model.generate(ask, { topP: 2 }))),
      token: await failure(collect(model.generate([99_999]))),
    };
  }, story);

  assert.deepEqual(found.together, found.alone);
  assert.equal(new Set(found.alone).size, 5);
  assert.equal(found.stopped.text, 'The capital of Japan is');
  assert.equal(found.stopped.stop, 'stop');
  assert.ok(found.turn.reusedTokens > 10, `${found.turn.reusedTokens} tokens were reused`);
  assert.equal(found.short.tokens, 2);
  assert.equal(found.short.stop, 'length');
  assert.ok(!found.raw.includes('assistant'));
  assert.equal(found.long.code, 'resource_exhausted');
  assert.match(found.long.message, /^The prompt has \d+ tokens; at most 255 fit into the context of 256, which the answer shares: shorten it\.$/);
  assert.equal(found.bad.code, 'invalid_argument');
  assert.equal(found.token.message, "The token 99999 is not one of the model's 3072 tokens.");
});

test('sampled answers on the gpu are the same alone and side by side, and the same again with the same seed', async (t) => {
  const { page } = await open(t);

  const found = await page.evaluate(async (prompt) => {
    const model = await weft.load('/models/tiny-qwen2-short-q4_k_m.gguf', { device: 'gpu', context: 256, sequences: 2, activations: 'f32', kv: 'f32' });
    const draw = async (seed) => (await collect(model.generate(prompt, { temperature: 0.9, topK: 40, topP: 0.95, repetitionPenalty: 1.1, maxTokens: 8, seed }))).summary.text;
    const alone = [await draw(1), await draw(2)];
    const together = await Promise.all([draw(1), draw(2)]);
    await model.dispose();
    return { alone, together };
  }, story);

  assert.deepEqual(found.together, found.alone);
  assert.notEqual(found.alone[0], found.alone[1]);
});

test('dispose() ends the Worker and what is under way; a Worker that breaks rejects everything, and load() works again', async (t) => {
  const { page } = await open(t);

  const disposed = await page.evaluate(async (prompt) => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu' });
    const pending = model.generate(prompt, { maxTokens: 1000 });
    await pending.next();
    const ended = model.dispose();
    await model.dispose();
    const found = [await failure(pending.summary), await failure(model.tokenize('a')), await failure(model.generate('a').next())];
    await ended;
    return found;
  }, story);
  for (const one of disposed) assert.deepEqual(one, { name: 'CancelledError', code: 'cancelled', isWeftError: true, message: 'The model was disposed.' });
  await workersEnd(page);

  const broken = await page.evaluate(async (prompt) => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu', engine: '/breakable.mjs' });
    const first = model.generate(prompt, { maxTokens: 1000 });
    const second = model.generate(prompt, { maxTokens: 1000 });
    await first.next();
    new BroadcastChannel('weft-test').postMessage('break');
    const found = [await failure(first.summary), await failure(second.summary), await failure(model.render([]))];
    const again = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'cpu' });
    const { summary } = await collect(again.generate([{ role: 'user', content: 'What is the capital of Japan?' }]));
    await again.dispose();
    return { found, text: summary.text };
  }, story);
  for (const one of broken.found) {
    assert.equal(one.name, 'CrashedError');
    assert.match(one.message, /A trap\./);
  }
  assert.equal(broken.text, 'The capital of Japan is Tokyo.');
  await workersEnd(page);
  assert.deepEqual((await page.evaluate(() => failure(weft.load('/models/tiny-llama-chat-q8_0.gguf', { engine: '/nowhere.mjs' })))).code, 'not_found');
});

test('a lost GPU rejects what is under way with device_lost, and load() works again after it', async (t) => {
  const { page } = await open(t);

  const found = await page.evaluate(async (prompt) => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'gpu', engine: '/breakable.mjs' });
    const first = model.generate(prompt, { maxTokens: 1000 });
    const waiting = model.generate(prompt, { maxTokens: 1000 });
    await first.next();
    await first.next();
    new BroadcastChannel('weft-test').postMessage('lose');
    const lost = [await failure(collect(first)), await failure(waiting.summary), await failure(model.generate('a').summary)];
    const count = (await model.tokenize('a')).length;  // Calls that need no GPU still work.
    await model.dispose();
    const again = await weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'gpu' });
    const { summary } = await collect(again.generate([{ role: 'user', content: 'What is the capital of Japan?' }]));
    const left = again.generate(prompt, { maxTokens: 400 });
    let read = 0;
    for await (const _ of left) if (++read === 3) break;
    await again.dispose();
    return { lost, count, text: summary.text, left: await left.summary };
  }, story);

  for (const one of found.lost) assert.deepEqual([one.name, one.code], ['DeviceLostError', 'device_lost'], one.message);
  assert.equal(found.count, 1);
  assert.equal(found.text, 'The capital of Japan is Tokyo.');
  assert.equal(found.left.stop, 'cancelled');
  assert.ok(found.left.tokens < 40, `${found.left.tokens} tokens were drawn`);
  await workersEnd(page);
});

test('without WebGPU `auto` is the processor and says why, and `gpu` is refused', async (t) => {
  const { page } = await open(t, { webgpu: false });

  const found = await page.evaluate(async () => {
    const model = await weft.load('/models/tiny-llama-chat-q8_0.gguf');
    await model.dispose();
    return { device: model.info.device, refused: await failure(weft.load('/models/tiny-llama-chat-q8_0.gguf', { device: 'gpu' })) };
  });

  assert.equal(found.device.kind, 'cpu');
  assert.match(found.device.reason, /^This browser (has no WebGPU|offers no GPU)\.$/);
  assert.deepEqual(found.refused, { name: 'WeftError', code: 'unavailable', isWeftError: true, message: found.device.reason });
});
