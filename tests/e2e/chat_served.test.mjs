// The chat page with a network's models. The models come first, with their prices. Answers show
// their cost and the workers that gave them, and JSON is shown as JSON. Conversations are kept in
// the browser over a reload, can be exported, and are deleted on request.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { pause } from './lib.mjs';
import { aNetwork } from './openai-table.mjs';
import { violations } from './pages.mjs';

const answer = 'The capital of Japan is Tokyo.';
const sizes = { wide: { width: 1600, height: 900 }, desk: { width: 1280, height: 800 }, tablet: { width: 820, height: 1180 }, phone: { width: 390, height: 844 } };
const themes = ['light', 'dark'];

test("the network's models in the chat", { timeout: 300_000 }, async (t) => {
  const { url } = await aNetwork(t);
  const { page, complaints } = await browse(t, { bypassCSP: true, acceptDownloads: true });
  const shots = async (name) => {
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const colorScheme of themes) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await pause(300);  // The change of colours is animated.
        await picture(page, `chat-${name}-${size}-${colorScheme}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, `${name} fits into ${size}`);
      }
    }
    assert.deepEqual(await violations(page), []);
  };
  await page.goto(`${url}/chat`);
  await page.getByRole('heading', { name: 'Served by the network' }).waitFor();
  assert.deepEqual(await page.getByRole('heading', { level: 2 }).allTextContents(), ['Served by the network', 'Or in this tab']);
  const listed = await byId(page, 'served').getByRole('listitem').allTextContents();
  assert.deepEqual(listed.map((text) => text.replace(/ready.*/s, '')).sort(), ['apart', 'tiny'], 'models that make vectors are not talked to');
  assert.match(listed.join(' '), /tiny\s*ready on one worker; 0\.000007 credits for 1,000 tokens; reads up to \d/);
  await shots('models');

  await page.getByRole('button', { name: 'Talk to tiny' }).click();
  await page.getByText('Settings').click();
  await page.getByLabel(/^Temperature/).fill('0');
  const ask = async (text) => {
    await page.getByLabel('Message').fill(text);
    await page.getByLabel('Message').press('Enter');
    await page.locator('li[data-role="assistant"]').last().and(page.locator('[data-state="written"]')).waitFor();
  };
  await ask('What is the capital of Japan?');
  assert.equal(await byId(page, 'answer').last().textContent(), answer);
  assert.match(await byId(page, 'figures').last().textContent(), /tokens.*; 0\.000001 credits; by worker \w{4}…\w{4}; not verified: any worker may have answered$/);
  await page.getByLabel('Answers are JSON objects').check();
  await page.getByLabel('Most tokens of an answer').fill('300');
  await ask('What is the capital of Japan?');
  const said = await byId(page, 'answer').last().textContent();
  assert.ok(said.startsWith('{'), said);
  if (await byId(page, 'json').count() > 0) assert.equal(typeof JSON.parse(await byId(page, 'json').last().textContent()), 'object');
  await shots('answer');

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
  const { model, messages } = JSON.parse(fs.readFileSync(await download.path(), 'utf8'));
  assert.equal(model, 'tiny');
  assert.deepEqual(messages.slice(0, 2), [{ role: 'user', content: 'What is the capital of Japan?' }, { role: 'assistant', content: answer }]);

  await page.reload();
  const earlier = byId(page, 'earlier');
  await earlier.waitFor();
  assert.match(await earlier.textContent(), /What is the capital of Japan\?.*tiny/s);
  await page.getByRole('button', { name: 'Talk to tiny' }).click();
  await page.getByRole('button', { name: 'Open What is the capital of Japan?' }).click();
  assert.equal(await byId(page, 'answer').first().textContent(), answer);
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByRole('button', { name: 'Remove What is the capital of Japan?' }).click();
  await earlier.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { name: 'Served by the network' }).waitFor();
  assert.equal(await earlier.count(), 0);
  assert.deepEqual(complaints.filter((text) => !/WebGPU|GPU/.test(text)), []);
});
