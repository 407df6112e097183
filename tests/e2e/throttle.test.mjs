// A tab keeps to the limits of its user: of time, of memory, in the background, on battery; also
// after a reload.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, contribute, counts, picture } from './browser.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { getJson, root, run, scratch, serve, until } from './lib.mjs';

const own = async (page, url) => {
  const address = await byId(page, 'address').getAttribute('data-address');
  return (await getJson(`${url}/v1/workers`)).workers.find((worker) => worker.key === address);
};
function submit(t, url, manifest, options = {}) {
  const folder = scratch(t);
  return run(['submit', writeJob(folder, manifest), '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--wait'], options);
}
const memory = (page) => page.getByLabel('Memory for tasks and models');

test('a small share of the time: it wants nothing while it rests, holds one task at a time, and the whole share ends the rest', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await contribute(page, url);
  await page.getByLabel('Share of the time').fill('5');
  await until(async () => (await own(page, url)).slots === 1, 'one task at a time');

  const submitted = submit(t, url, hashJob({ tasks: 6, rounds: 300_000, name: 'long' }));
  await until(async () => (await own(page, url)).slots === 0, 'it rests', 120);
  assert.match(await byId(page, 'busy').textContent(), /% of 5 %$/);
  await picture(page, 'contribute-share');
  await page.getByLabel('Share of the time').fill('100');

  const { code, stderr } = await submitted;
  assert.equal(code, 0, stderr);
  assert.ok((await own(page, url)).slots > 1);
});

test('in the background and on battery it takes nothing, says why, and goes on by itself; the choice is kept', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  // Simulates a hidden tab and an unplugged battery when the test asks for them, because headless
  // browsers have neither.
  await page.addInitScript(() => {
    let hidden = false;
    Object.defineProperty(document, 'hidden', { get: () => hidden });
    globalThis.hide = (value) => {
      hidden = value;
      document.dispatchEvent(new Event('visibilitychange'));
    };
    const battery = Object.assign(new EventTarget(), { charging: true });
    navigator.getBattery = async () => battery;
    globalThis.plug = (value) => {
      battery.charging = value;
      battery.dispatchEvent(new Event('chargingchange'));
    };
  });
  const wanted = (slots) => until(async () => ((await own(page, url)).slots > 0) === slots, slots ? 'it wants tasks' : 'it wants no tasks');
  await contribute(page, url);
  await page.getByRole('checkbox', { name: 'Pause while this tab is in the background' }).check();
  await page.reload();
  await contribute(page, url);
  assert.equal(await page.getByRole('checkbox', { name: 'Pause while this tab is in the background' }).isChecked(), true);

  await page.evaluate(() => globalThis.hide(true));
  await wanted(false);
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 0, 'it serves no models');
  const submitted = submit(t, url, hashJob({ tasks: 2 }));
  await until(async () => (await getJson(`${url}/v1/jobs`)).jobs.length === 1, 'the job is there');
  assert.equal(await byId(page, 'headline').textContent(), 'Paused');
  assert.match(await byId(page, 'now').textContent(), /this tab is in the background/);
  await picture(page, 'contribute-paused');

  await page.evaluate(() => globalThis.plug(false));
  await page.evaluate(() => globalThis.hide(false));
  await until(async () => /runs on its battery/.test(await byId(page, 'now').textContent()), 'the other reason is left');
  assert.equal((await own(page, url)).accepted, 0);

  await page.evaluate(() => globalThis.plug(true));
  await wanted(true);
  const { code, stderr } = await submitted;
  assert.equal(code, 0, stderr);
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 1, 'it offers to serve again');
});

test('tasks and models are told of a memory limit, and changing it joins again', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  const offered = async () => (await getJson(`${url}/v1/serving`)).workers[0]?.memory_bytes;
  const device = page.locator('section', { has: page.getByRole('heading', { name: 'This machine' }) });
  await contribute(page, url);
  await submit(t, url, hashJob({ tasks: 2 }));
  await counts(page, 'done', 2);
  await until(async () => (await offered()) === 2048 * 2 ** 20, 'the usual memory for models');
  assert.match(await device.textContent(), /512 MiB/);

  await memory(page).selectOption('At most 256 MiB');

  await until(async () => (await offered()) === 2 ** 28 - Math.floor(2 ** 28 / 3), 'two thirds of the limit for models');
  await until(async () => /85 MiB/.test(await device.textContent()), 'a third for a task');
  assert.equal(await byId(page, 'done').textContent(), '2');
  const large = await submit(t, url, hashJob({ tasks: 2, name: 'large', requires: { memory_bytes: 2 ** 27 }, deadline_s: 3 }));
  assert.notEqual(large.code, 0);

  await memory(page).selectOption('At most 1 GiB');
  const again = await submit(t, url, hashJob({ tasks: 2, name: 'large', requires: { memory_bytes: 2 ** 27 } }));
  assert.equal(again.code, 0, again.stderr);
});

test('a model is served within a tenth of the time, and the page says so', { timeout: 900_000 }, async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await contribute(page, url);
  const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
  const added = await run(['model', 'add', model, '--name', 'tiny', '--coordinator', url, '--wallet', path.join(scratch(t), 'client.json'), '--wait']);
  assert.equal(added.code, 0, added.stderr);
  await until(async () => /^Serves 1 part of models/.test(await byId(page, 'now').textContent()), 'the page says that it serves', 120);

  await page.getByLabel('Share of the time').fill('10');
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // Streamed, because the whole answer may take longer than fetch() waits for a response's head.
    body: JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'What is the capital of Japan?' }], temperature: 0, stream: true }),
  });

  const events = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
  assert.equal(events.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join(''), 'The capital of Japan is Tokyo.');
  await until(async () => /11 tokens drawn|10 tokens drawn/.test(await byId(page, 'now').textContent()), 'the page counts its tokens');
  await picture(page, 'contribute-serving');
});

test('two tasks at a time: the short job of one client is done beside the long one of another, in half of the memory each', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--task-wall-ms', '120000', '--grant', '100000'] });
  const { page } = await browse(t);
  await contribute(page, url);
  await submit(t, url, hashJob({ tasks: 2, name: 'first' }));
  await page.getByRole('checkbox', { name: 'Two tasks at a time, each with half of the memory' }).check();
  await until(async () => (await getJson(`${url}/v1/workers`)).workers.some(({ connected, slots }) => connected && slots === 2), 'it joins again with two slots');

  // Jobs of one task show how long rounds take on this machine. The long job takes about five
  // seconds, so that the coordinator's verifier, which gives a check five seconds, decides it.
  const state = async (wanted) => (await getJson(`${url}/v1/jobs`)).jobs.find(({ name }) => name === wanted);
  let rounds = 20_000;
  for (let took = 0; took < 1250;) {
    const began = Date.now();
    const tried = await submit(t, url, hashJob({ tasks: 1, rounds, name: `try${rounds}`, budget: 10_000 }));
    assert.equal(tried.code, 0, tried.stderr);
    took = Date.now() - began;
    rounds = Math.round(rounds * Math.min(3, Math.max(1, 5_000 / took)));
  }
  const slow = submit(t, url, hashJob({ tasks: 1, rounds, name: 'slow', budget: 50_000, deadline_s: 240 }), { seconds: 240 });
  await until(async () => (await state('slow'))?.leased === 1, 'the long one runs');
  const quick = await submit(t, url, hashJob({ tasks: 1, name: 'quick' }));

  assert.equal(quick.code, 0, quick.stderr);
  assert.equal((await state('slow')).state, 'running');
  assert.equal((await state('slow')).leased, 1);
  // The tab's tasks have a third of the usual 2.5 GiB, at most 512 MiB, in two halves. A job that
  // needs more than one half is accepted, but waits while the long job runs.
  const waits = submit(t, url, hashJob({ tasks: 1, name: 'large', requires: { memory_bytes: 300 * 2 ** 20 } }), { seconds: 240 });
  await until(async () => (await getJson(`${url}/v1/jobs/${(await state('large'))?.id}`).catch(() => null))?.waiting.reason === 'reserved', 'the large one waits for room');
  const long = await slow;
  assert.equal(long.code, 0, long.stderr);
  assert.equal((await waits).code, 0);
  await picture(page, 'contribute-two-tasks');
});
