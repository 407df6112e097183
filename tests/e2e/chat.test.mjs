// The chat page as the coordinator serves it, in a real Chromium with a real (tiny) model. One test
// uses the software GPU, which compiles for about twenty seconds for each page; tests of the page
// itself use the processor.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { root, serve, until } from './lib.mjs';
import { modelFile, serveModels } from './model-server.mjs';

const axe = fs.readFileSync(createRequire(path.join(root, 'web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');
const llama = 'tiny-llama-chat-q8_0.gguf';
const model = modelFile(llama);
const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const japan = 'The capital of Japan is Tokyo.';

const message = (page) => page.getByLabel('Message');
const lastAnswer = (page) => byId(page, 'answer').last();
const written = (page) => page.locator('li[data-role="assistant"]').last().and(page.locator('[data-state="written"]')).waitFor();

async function takeModel(page) {
  await page.getByLabel('Model file').setInputFiles(model);
  await byId(page, 'model').waitFor();
}

async function ask(page, text) {
  await message(page).fill(text);
  await message(page).press('Enter');
}

// Sets the temperature to 0, so that the likeliest words are drawn and the answer is known.
async function alwaysLikeliest(page) {
  await page.getByText('Settings').click();
  await page.getByLabel(/^Temperature/).fill('0');
  await page.getByText('Settings').click();
}

test('the chat loads when its page is opened, and a file answers: streamed, stopped, answered again, let go', async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await browse(t);
  const requests = [];
  page.context().on('request', (request) => requests.push(request.url()));
  await page.goto(url);
  await byId(page, 'offer').waitFor();
  assert.deepEqual(requests.filter((one) => /weft_llm|\/chat-|model-worker/.test(one)), []);

  await page.getByRole('link', { name: 'Chat' }).click();
  await page.getByRole('heading', { name: 'Talk to a model in this tab.' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/chat');
  assert.deepEqual(requests.filter((one) => /weft_llm|model-worker/.test(one)), []);
  await takeModel(page);
  assert.match(await byId(page, 'place').textContent(), /^In this tab, on google swiftshader, 5\.\d MiB, /);
  await alwaysLikeliest(page);

  await ask(page, 'What is the capital of Japan?');
  await written(page);
  assert.equal(await lastAnswer(page).textContent(), japan);
  assert.match(await byId(page, 'figures').textContent(), /^[\d.,]+ tokens\/s, 11 tokens, the first after /);

  await page.getByRole('button', { name: 'Answer again' }).click();
  await written(page);
  assert.equal(await byId(page, 'answer').count(), 1);
  assert.equal(await lastAnswer(page).textContent(), japan);

  await ask(page, 'Write a scene of a play in which two kings quarrel.');
  await until(async () => (await lastAnswer(page).textContent()).length > 10, 'some of the answer is there');
  const writing = (await page.locator('[data-state="writing"]').count()) === 1;
  // The answer may just have ended.
  if (writing) await page.getByRole('button', { name: 'Stop' }).click({ timeout: 5000 }).catch(() => {});
  await written(page);

  // The conversation stays while its reader is on another page.
  await page.getByRole('link', { name: 'Contribute' }).click();
  await byId(page, 'offer').waitFor();
  await page.goBack();
  assert.equal(await byId(page, 'answer').count(), 2);
  await page.getByRole('button', { name: 'New conversation' }).click();
  assert.equal(await byId(page, 'answer').count(), 0);
  await page.getByRole('button', { name: 'Other model' }).click();
  await page.getByRole('heading', { name: 'Talk to a model in this tab.' }).waitFor();
  await until(() => page.workers().every((worker) => !/model-worker/.test(worker.url())), "the model's Worker has ended", 10);
  assert.deepEqual(requests.filter((request) => !request.startsWith(url) && !request.startsWith('blob:')), []);
  assert.deepEqual(complaints, []);
});

test('an address on another server is downloaded once, kept and removed; what is not a model is refused in words', async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await browse(t, { webgpu: false });
  const models = await serveModels(t);
  models.files.set('text.gguf', Buffer.from('This is not a model.'));
  await page.goto(`${url}/chat`);

  await page.getByLabel('Or its address').fill(`${models.url}/models/text.gguf`);
  await page.getByRole('button', { name: 'Load' }).click();
  await page.getByRole('alert').getByText("The file begins with 0x54686973, not with 'GGUF'.").waitFor();

  await page.getByLabel('Or its address').fill(`${models.url}/models/${llama}`);
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await byId(page, 'model').waitFor();
  assert.deepEqual(complaints, []);
  models.line.down = true;
  await page.reload();
  await page.getByRole('button', { name: `Load ${llama}` }).click();
  await byId(page, 'model').waitFor();
  await ask(page, 'What is the capital of Japan?');
  await written(page);
  assert.equal(await lastAnswer(page).textContent(), japan);

  await page.getByRole('button', { name: 'Other model' }).click();
  await until(() => page.workers().every((worker) => !/model-worker/.test(worker.url())), "the model's Worker has ended", 10);
  await page.getByRole('button', { name: `Remove ${llama}` }).click();
  await page.getByRole('button', { name: `Remove ${llama}` }).waitFor({ state: 'detached' });
});

test('the chat in light and dark, on a desk and a phone: no accessibility violation, nothing wider than the window; and by keyboard alone', async (t) => {
  const { url } = await serve(t);
  // Needed, because the test injects axe.
  const { page } = await browse(t, { webgpu: false, bypassCSP: true });
  const everywhere = async (state) => {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, viewport] of Object.entries(sizes)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await picture(page, `chat-${state}-${name}-${colorScheme}`);
        await page.evaluate(axe);
        const found = await page.evaluate(() => globalThis.axe.run(document));
        assert.deepEqual(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`), [], `${state}, ${name}, ${colorScheme}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(over <= 0, `${state}, ${name}: ${over} pixels too wide`);
      }
    }
  };
  await page.goto(`${url}/chat`);
  await page.getByRole('heading', { name: 'Talk to a model in this tab.' }).waitFor();
  await everywhere('empty');

  await takeModel(page);
  await alwaysLikeliest(page);
  const focused = () => page.evaluate(() => document.activeElement?.id === document.querySelector('textarea[placeholder]')?.id);
  for (let presses = 0; presses < 12 && !(await focused()); presses += 1) await page.keyboard.press('Tab');
  assert.ok(await focused(), 'the message can be reached by keyboard');
  await page.keyboard.type('What is the capital of Japan?');
  await page.keyboard.press('Enter');
  await written(page);
  await page.keyboard.type('What is 12 + 30?');
  await page.keyboard.press('Enter');
  await written(page);
  await everywhere('conversation');
});
