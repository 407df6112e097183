// The dashboard with a network far larger than this machine behind the messages of a real coordinator.
// Runs alone: no task of the page’s thread may take 50 ms.
import assert from 'node:assert/strict';
import test from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { serve, until } from './lib.mjs';
import { live, sizes } from './pages.mjs';
import { simulateWatch, SimulatedNetwork } from './watch-simulation.mjs';

// Measures the tasks of the page's own thread, in CPU time, because the page does not cause other
// work of this machine.
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
  // The ratio of the tasks' wall time to their CPU time: 1 if the page had a processor to itself.
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
