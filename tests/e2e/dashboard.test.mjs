// The dashboard in a real browser: against a real coordinator with a native worker, and with a network far larger than this
// machine behind the same messages.
// Runs alone: no task of the page’s thread may take 50 ms.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, counts, picture } from './browser.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { getJson, run, scratch, serve, until, work } from './lib.mjs';
import { sizes, violations } from './pages.mjs';
import { simulateWatch, SimulatedNetwork } from './watch-simulation.mjs';

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
const live = (page) => page.locator('[data-testid="feed"][data-state="open"]').waitFor();

test('a job on a real worker shows as it is woven, is priced and paid, and each task checks out in the page', async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const { page, complaints } = await browse(t);
  const requests = [];
  page.context().on('request', (request) => requests.push(request.url()));
  await page.goto(`${url}/`);
  await page.getByText('No job is waiting').waitFor();
  assert.deepEqual(requests.filter((request) => /dashboard|topology/i.test(request)), [], 'nothing of it loads before its page is opened');

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
  const { page } = await browse(t, { bypassCSP: true });  // axe is put in from outside.
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

// What the page's own thread does at a time, in CPU time: what else this machine does meanwhile is not the page's doing.
async function longestTasks(page, whileDoing) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  const ended = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline', 'devtools.timeline', '__metadata'] } });
  await whileDoing();
  await session.send('Tracing.end');
  await ended;
  const threads = new Set(events.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map((event) => `${event.pid} ${event.tid}`));
  return events
    .filter((event) => /RunTask$/.test(event.name) && threads.has(`${event.pid} ${event.tid}`) && event.tdur !== undefined)
    .map((event) => ({ ms: event.tdur / 1000, wallMs: event.dur / 1000 }))
    .sort((a, b) => b.ms - a.ms);
}
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const longest = (tasks) => tasks.slice(0, 5).map(({ ms }) => ms.toFixed(1)).join(', ');

test('5,000 workers and 100,000 tasks stay smooth: no task of the page’s thread takes 50 ms', async (t) => {
  const { url: coordinator } = await serve(t);
  const network = new SimulatedNetwork({ workers: 5000, tasks: 100_000 });
  const { url, told } = await simulateWatch(t, coordinator, network);
  const { page, complaints } = await browse(t);
  await page.addInitScript(() => {
    globalThis.longTasks = [];
    new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask', buffered: true });
  });
  const opening = await longestTasks(page, async () => {
    await page.goto(`${url}/dashboard`);
    await live(page);
    await page.locator('[data-testid="topology"][data-workers]').waitFor();
    await until(async () => Number(await byId(page, 'topology').getAttribute('data-workers')) >= 4990, 'all workers are drawn');
  });
  await page.evaluate(() => { globalThis.longTasks.length = 0; });
  const before = told.seen;

  const tasks = await longestTasks(page, async () => {
    for (let step = 0; step < 10; step += 1) {
      await page.mouse.move(700 + 20 * step, 500);
      await page.mouse.wheel(0, step < 5 ? 150 : -150);
      await page.waitForTimeout(1000);
    }
  });
  const observed = await page.evaluate(() => globalThis.longTasks);
  // How much longer tasks took than they computed: 1 where the page had a processor to itself.
  const busy = tasks.filter(({ ms }) => ms > 1);
  const crowding = sum(busy.map(({ wallMs }) => wallMs)) / sum(busy.map(({ ms }) => ms));
  t.diagnostic(`${told.seen - before} messages taken in, ${Math.round(told.bytes / told.messages)} bytes each; longest tasks in ms of CPU: ${longest(tasks)}; when it opened: ${longest(opening)};`
    + ` the machine was ${crowding.toFixed(1)} times too busy; longtask observer: ${observed.map((ms) => Math.round(ms)).join(', ') || 'none'}`);

  for (const [name, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => window.scrollTo(0, 0));
      await page.waitForTimeout(600);
      await picture(page, `dashboard-large-${name}-${colorScheme}`);
      await picture(page, `dashboard-large-whole-${name}-${colorScheme}`, { fullPage: true });
    }
  }
  assert.ok(told.seen - before >= 20, `it takes in what it is sent: ${told.seen - before} messages`);
  assert.ok(tasks.length > 100, 'the trace has the page’s tasks');
  assert.ok(tasks[0].ms < 50, `the longest task took ${tasks[0].ms} ms`);
  if (crowding < 1.5) assert.deepEqual(observed, [], 'the browser’s own observer saw no long task');
  assert.deepEqual(complaints.filter((text) => !/404/.test(text)), []);  // The simulated jobs have no proofs.
});
