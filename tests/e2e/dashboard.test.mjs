// The dashboard in a real browser, against a real coordinator with a native worker.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, counts, picture } from './browser.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { getJson, run, scratch, serve, work } from './lib.mjs';
import { live, sizes, violations } from './pages.mjs';

/** The address of the page that shows the job. */
async function submit(t, url, manifest) {
  const folder = scratch(t);
  const at = ['--coordinator', url, '--wallet', path.join(folder, 'wallet.json')];
  const done = await run(['submit', writeJob(folder, manifest), ...at, '--out', path.join(folder, 'out'), '--json']);
  assert.equal(done.code, 0, done.stderr);
  const shared = await run(['submit', '--share', JSON.parse(done.stdout).id, ...at]);
  assert.equal(shared.code, 0, shared.stderr);
  return shared.stdout.trim();
}

test('a job on a real worker shows as it is woven, is priced and paid, and each task checks out in the page', async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const { page, complaints } = await browse(t);
  const requests = [];
  page.context().on('request', (request) => requests.push(request.url()));
  await page.goto(`${url}/`);
  await page.getByText('No job is waiting').waitFor();
  assert.deepEqual(requests.filter((request) => /dashboard|topology/i.test(request)), [], 'no part of it loads before its page is opened');

  await page.getByRole('link', { name: 'Network' }).click();
  await live(page);
  await page.getByText('No job is running').waitFor();
  const address = await submit(t, url, hashJob({ tasks: 16, rounds: 4096 }));

  await counts(page, 'count-accepted', 16);
  await counts(page, 'worker-count', 1);
  await byId(page, 'topology').and(page.locator('[data-workers="1"][data-settled="true"]')).waitFor();
  await byId(page, 'prices').getByRole('rowheader').waitFor();
  assert.match(await byId(page, 'workers').textContent(), /\d ms/, 'the round trip is measured');
  await page.getByText('All accounts sum to 0').waitFor();
  await byId(page, 'balances').getByText('granted', { exact: true }).waitFor();
  await page.getByText('What a job computed is its owner’s').waitFor();

  await page.goto(address);
  for (const task of [0, 11, 15]) {
    await page.getByLabel(/^Task of/).fill(String(task));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText(`Task ${task} checks out`).waitFor();
  }
  const [job] = (await getJson(`${url}/v1/jobs`)).jobs;
  await page.getByText('As a list, from the top').click();
  assert.ok((await byId(page, 'proof').textContent()).includes(job.root), 'the path ends in the job’s root');
  assert.deepEqual(complaints, []);
});

test('a coordinator that lies about a task is found out', async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const address = await submit(t, url, hashJob({ tasks: 4 }));
  const { page } = await browse(t);
  await page.context().route(/\/proof\?/, async (route) => {
    const answer = await route.fetch();
    const proof = await answer.json();
    await route.fulfill({ response: answer, json: { ...proof, root: proof.root.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) } });
  });

  await page.goto(address);

  await page.getByText('Task 0 does not check out').waitFor();
});

test('the page comes back by itself when the coordinator does', async (t) => {
  const data = scratch(t);
  const first = await serve(t, { data });
  const { page } = await browse(t);
  await page.goto(`${first.url}/dashboard`);
  await live(page);

  await first.program.stop();
  await page.locator('[data-testid="feed"]:not([data-state="open"])').waitFor();
  await serve(t, { data, listen: new URL(first.url).host });

  await live(page);
});

test('light and dark, on a desk and a phone: no accessibility violation, nothing wider than the window', async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  let address = '';
  for (const name of ['hashes', 'terrain', 'noise']) address = await submit(t, url, hashJob({ tasks: 16, rounds: 2048, name }));
  const { page } = await browse(t, { bypassCSP: true });  // Needed, because the test injects axe.
  await page.goto(address);
  await page.getByText('Task 0 checks out').waitFor();
  await byId(page, 'balances').getByText('granted', { exact: true }).waitFor();
  for (const colorScheme of ['light', 'dark']) {
    for (const [name, viewport] of Object.entries(sizes)) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await byId(page, 'topology').and(page.locator('[data-settled="true"]')).waitFor();
      await picture(page, `dashboard-${name}-${colorScheme}`);
      await picture(page, `dashboard-whole-${name}-${colorScheme}`, { fullPage: true });
      assert.deepEqual(await violations(page), [], `${name}, ${colorScheme}`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${name}: ${over} pixels too wide`);
    }
  }
});

test('tasks are reached from the keyboard', async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const address = await submit(t, url, hashJob({ tasks: 8 }));
  const { page } = await browse(t);
  await page.goto(address);
  await byId(page, 'task-grid').waitFor();

  const onGrid = () => page.evaluate(() => document.activeElement?.getAttribute('data-testid') === 'task-grid');
  for (let presses = 0; presses < 20 && !(await onGrid()); presses += 1) await page.keyboard.press('Tab');
  assert.ok(await onGrid());
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);

  await page.getByText('Task 2 checks out').waitFor();
});
