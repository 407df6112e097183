// The page before any work: every visitor reaches it, it is small and strict, and it says so if its
// engine is missing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { browse, byId, contribute, picture, startButton } from './browser.mjs';
import { serve } from './lib.mjs';
import { sizes, violations } from './pages.mjs';

test('light and dark, on a desk and a phone, idle and running: no accessibility violation, nothing wider than the window', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t, { bypassCSP: true });  // Needed, because the test injects axe.
  const everywhere = async (state) => {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, viewport] of Object.entries(sizes)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await picture(page, `contribute-${state}-${name}-${colorScheme}`, { fullPage: true });
        assert.deepEqual(await violations(page), [], `${state}, ${name}, ${colorScheme}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(over <= 0, `${state}, ${name}: ${over} pixels too wide`);
      }
    }
  };

  await page.goto(url);
  await byId(page, 'offer').waitFor();
  await page.getByText('No job is waiting').waitFor();
  await everywhere('idle');

  await contribute(page, url);
  await byId(page, 'device').waitFor();
  await everywhere('running');
});

test('the page and its engine keep to the Content-Security-Policy, load nothing from elsewhere, and the engine only after the click', async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await browse(t);
  const requests = [];
  page.context().on('request', (request) => requests.push(request.url()));
  const answer = await page.goto(url);
  await byId(page, 'offer').waitFor();
  await page.getByText('No job is waiting').waitFor();

  const policy = answer.headers()['content-security-policy'];
  assert.match(policy, /default-src 'self'/);
  assert.doesNotMatch(policy, /script-src[^;]*'unsafe-(inline|eval)'/);
  assert.deepEqual(requests.filter((request) => /weft_engine/.test(request)), []);
  assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), true);

  await contribute(page, url);
  assert.ok(requests.some((request) => /weft_engine/.test(request)));
  assert.deepEqual(requests.filter((request) => !request.startsWith(url) && !request.startsWith('blob:')), []);
  assert.deepEqual(complaints, []);
});

test('everything can be done from the keyboard', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await page.goto(url);
  await byId(page, 'offer').waitFor();

  const focused = () => page.evaluate(() => document.activeElement.textContent);
  for (let presses = 0; presses < 30 && (await focused()) !== 'Start contributing'; presses += 1) await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Start contributing');
  await page.keyboard.press('Enter');

  await page.locator('[data-testid="connection"][data-state="open"]').waitFor();
});

test('the chosen theme is kept', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t, { colorScheme: 'light' });
  await page.goto(url);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();

  for (const next of ['Light', 'Dark']) await page.getByRole('button', { name: new RegExp(`Change to ${next}`) }).click();
  assert.notEqual(await ground(), light);
  await page.reload();

  assert.notEqual(await ground(), light);
  assert.ok(await page.getByRole('button', { name: /^Theme: Dark/ }).isVisible());
});

test('without its engine the page still shows the network and says what is missing', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await page.context().route(/\/engine\//, (route) => route.fulfill({ status: 404 }));
  await page.goto(url);

  await startButton(page).click();

  await page.getByText('The engine is not on this server').waitFor();
  await page.getByText('No job is waiting').waitFor();
});
