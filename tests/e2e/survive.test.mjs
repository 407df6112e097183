// A tab's day: the network is lost, the machine sleeps. The work continues without a click.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, contribute, picture } from './browser.mjs';
import { countingProxy } from './counting-proxy.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { getJson, pause, run, scratch, serve, until } from './lib.mjs';

function submit(t, url, manifest) {
  const folder = scratch(t);
  return run(['submit', writeJob(folder, manifest), '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--wait']);
}
const connection = (page, state) => page.locator(`[data-testid="connection"][data-state="${state}"]`).waitFor();

test('offline in the middle of a job: the tab says so and goes on as soon as the network is back', { timeout: 300_000 }, async (t) => {
  const { url: coordinator } = await serve(t);
  const network = await countingProxy(t, coordinator);
  const { page, context } = await browse(t);
  await contribute(page, network.url);
  const submitted = submit(t, coordinator, hashJob({ tasks: 16, rounds: 50_000, name: 'long' }));
  await until(async () => Number(await byId(page, 'done').textContent()) > 0, 'it works', 120);

  // The emulation does not close open sockets, so that the test cuts them too.
  await context.setOffline(true);
  network.cut();
  await connection(page, 'waiting');
  await picture(page, 'contribute-offline');
  await pause(6000);
  network.mend();
  await context.setOffline(false);

  // The browser's own event that it is online again ends the backoff.
  await connection(page, 'open');
  const { code, stderr } = await submitted;
  assert.equal(code, 0, stderr);
});

test('asleep in the middle of a job: nothing moves, then it is awake and at work', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const { page, context } = await browse(t);
  await contribute(page, url);
  const first = submit(t, url, hashJob({ tasks: 16, rounds: 400_000, name: 'before' }));
  await until(async () => Number(await byId(page, 'done').textContent()) > 0, 'it works', 120);

  const accepted = async () => (await getJson(`${url}/v1/jobs`)).jobs[0].accepted;
  const cdp = await context.newCDPSession(page);
  await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
  // A frozen page's Workers continue, but on a sleeping machine nothing does.
  const { processInfo } = await (await context.browser().newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  assert.ok(renderers.length > 0);
  const all = (signal) => renderers.forEach((id) => process.kill(id, signal));
  all('SIGSTOP');
  try {
    await pause(2000);
    const asleep = await accepted();
    await pause(15_000);
    assert.equal(await accepted(), asleep);
    assert.ok(asleep < 16);
  } finally {
    all('SIGCONT');
  }
  await cdp.send('Page.setWebLifecycleState', { state: 'active' });

  const before = await first;
  assert.equal(before.code, 0, before.stderr);
  await connection(page, 'open');
  const after = await submit(t, url, hashJob({ tasks: 4, name: 'after' }));
  assert.equal(after.code, 0, after.stderr);
  assert.equal((await getJson(`${url}/v1/ledger`)).sum, 0);
});
