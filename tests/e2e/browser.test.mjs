// A tab of a real Chromium as a worker: it joins with one click, does the work alone, is paid, and
// leaves cleanly.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, contribute, counts, picture, startButton, stopButton } from './browser.mjs';
import { hashJob, matrixJob, outputs, writeJob } from './jobs.mjs';
import { getJson, run, scratch, serve, until } from './lib.mjs';

/** Submits a job and waits; returns { job, outputs }, or fails with what the program printed. */
async function submit(t, url, manifest) {
  const folder = scratch(t);
  const out = path.join(folder, 'out');
  const answer = await run(['submit', writeJob(folder, manifest), '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--out', out, '--json']);
  assert.equal(answer.code, 0, `weft submit: ${answer.stderr}\n${answer.stdout}`);
  return { job: JSON.parse(answer.stdout), outputs: outputs(out) };
}

async function runHere(t, manifest, args = []) {
  const folder = scratch(t);
  const out = path.join(folder, 'out');
  const answer = await run(['run', writeJob(folder, manifest), '--out', out, ...args]);
  assert.equal(answer.code, 0, `weft run: ${answer.stderr}`);
  return outputs(out);
}

const ownWorker = async (page, url) => {
  const address = await byId(page, 'address').getAttribute('data-address');
  const { workers } = await getJson(`${url}/v1/workers`);
  return workers.find((worker) => worker.key === address);
};

test('a tab that joined by one click does a whole job, and its bytes are those of weft run', async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await browse(t);
  await contribute(page, url);

  const manifest = hashJob();
  const { outputs: fromTab } = await submit(t, url, manifest);
  const [{ id }] = (await getJson(`${url}/v1/jobs`)).jobs;

  assert.deepEqual(fromTab, await runHere(t, manifest));
  assert.equal(await counts(page, 'done', 8), 8);
  await until(async () => Number(await byId(page, 'earned').textContent()) > 0, 'the page shows what was earned');
  const worker = await ownWorker(page, url);
  assert.equal(worker.kind, 'browser');
  assert.equal(worker.accepted, 8);
  assert.ok(worker.balance > 0);
  assert.equal((await getJson(`${url}/v1/ledger`)).sum, 0);
  assert.match(await byId(page, 'device').textContent(), /through WebGPU/);
  assert.equal(await byId(page, 'now').textContent(), 'Nothing runs right now.');
  await until(async () => (await page.getByRole('row', { name: new RegExp(`^${id.slice(0, 8)} \\d .* accepted`) }).count()) === 8, 'the list shows all tasks, by the job\'s id');
  await picture(page, 'contribute-done');
  assert.deepEqual(complaints, []);
});

test('stopping gives back what runs and closes the connection; the job goes on with the next start', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await contribute(page, url);
  const folder = scratch(t);
  const manifest = hashJob({ tasks: 16, rounds: 30_000, name: 'long' });
  const submitted = run(['submit', writeJob(folder, manifest), '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--out', path.join(folder, 'out')]);
  await counts(page, 'done', 1);

  await stopButton(page).click();
  await byId(page, 'summary').waitFor();
  await until(async () => !(await ownWorker(page, url)).connected, 'the coordinator knows that the tab has left');

  await startButton(page).click();
  const { code, stderr } = await submitted;
  assert.equal(code, 0, stderr);
  assert.deepEqual(outputs(path.join(folder, 'out')), await runHere(t, manifest));
});

test('without WebGPU the tab says so and joins with the CPU kernels', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t, { webgpu: false });
  await page.goto(url);
  assert.match(await byId(page, 'offer').textContent(), /No WebGPU here, so this tab joins with the CPU kernels/);
  await contribute(page, url);
  await picture(page, 'contribute-cpu');

  const manifest = matrixJob();
  const { outputs: fromTab } = await submit(t, url, manifest);

  assert.deepEqual(fromTab, await runHere(t, manifest));
  assert.equal((await ownWorker(page, url)).device, 'cpu');
});

/** What the page's origin stores of its wallet, and what a script of the page gets if it exports the key. */
const keptKey = (page) =>
  page.evaluate(async () => {
    const database = await new Promise((resolve, reject) => {
      const opening = indexedDB.open('weft');
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    const record = await new Promise((resolve) => {
      const asking = database.transaction('keys').objectStore('keys').get('worker');
      asking.onsuccess = () => resolve(asking.result);
    });
    database.close();
    const stolen = await Promise.all(['pkcs8', 'jwk'].map((form) => crypto.subtle.exportKey(form, record.privateKey).then(() => form, () => null)));
    return { extractable: record.privateKey.extractable, stolen: stolen.filter((form) => form !== null) };
  });
const sealed = { extractable: false, stolen: [] };
const addressOf = (page) => byId(page, 'address').getAttribute('data-address');
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

/** Clicks a button that downloads a wallet file, and gives the file's path. */
async function download(t, page, name) {
  const [saved] = await Promise.all([page.waitForEvent('download'), press(page, name)]);
  const file = path.join(scratch(t), 'saved.json');
  await saved.saveAs(file);
  fs.chmodSync(file, 0o600);  // The program refuses a wallet file that others may read.
  return file;
}
async function holds(file, address) {
  const shown = await run(['wallet', 'show', '--file', file]);
  assert.ok(shown.stdout.includes(address), `${shown.stdout}${shown.stderr}`);
}

test('the wallet stays over a reload and a new browser, its key cannot be taken, and a file can replace it', async (t) => {
  const { url } = await serve(t);
  const first = await browse(t);
  await contribute(first.page, url);
  const address = await addressOf(first.page);
  assert.match(address, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

  await first.page.reload();
  await byId(first.page, 'address').waitFor();
  assert.equal(await addressOf(first.page), address);
  assert.deepEqual(await keptKey(first.page), sealed);
  await first.context.close();

  const again = await browse(t, { profile: first.profile });
  await again.page.goto(url);
  await byId(again.page, 'address').waitFor();
  assert.equal(await addressOf(again.page), address);

  const other = path.join(scratch(t), 'other.json');
  const made = await run(['wallet', 'new', '--file', other]);
  await again.page.getByLabel('Wallet file').setInputFiles(other);
  await press(again.page, 'Replace the wallet');
  await until(async () => made.stdout.includes(await addressOf(again.page)), 'the other wallet is used');
  assert.deepEqual(await keptKey(again.page), sealed);
});

test('a new wallet with a file earns, and its file is the same wallet', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await page.goto(url);
  const file = await download(t, page, 'New wallet with a file');
  await byId(page, 'address').waitFor();
  const address = await addressOf(page);
  await holds(file, address);
  assert.deepEqual(await keptKey(page), sealed);

  await contribute(page, url);
  assert.equal(await addressOf(page), address);
  const { job } = await submit(t, url, hashJob({ tasks: 2 }));
  assert.equal(job.state, 'done');
  assert.equal((await ownWorker(page, url)).key, address);
});

test('a key that an earlier version of the page kept is saved once and cannot be taken after', async (t) => {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await page.goto(url);
  await byId(page, 'offer').waitFor();
  await page.evaluate(async () => {
    const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
    const record = { privateKey: pair.privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)) };
    await new Promise((resolve, reject) => {
      const opening = indexedDB.open('weft', 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
      opening.onsuccess = () => {
        const transaction = opening.result.transaction('keys', 'readwrite');
        transaction.objectStore('keys').put(record, 'worker');
        transaction.oncomplete = () => { opening.result.close(); resolve(); };
        transaction.onabort = () => reject(transaction.error);
      };
    });
  });
  await page.reload();
  await byId(page, 'address').waitFor();
  const address = await addressOf(page);
  assert.equal((await keptKey(page)).extractable, true);

  await holds(await download(t, page, 'Save wallet file'), address);
  await page.getByRole('button', { name: 'Save wallet file' }).waitFor({ state: 'detached' });
  assert.deepEqual(await keptKey(page), sealed);

  await page.reload();
  await byId(page, 'address').waitFor();
  assert.equal(await addressOf(page), address);
  assert.equal(await page.getByRole('button', { name: 'Save wallet file' }).count(), 0);
});

test('a coordinator that goes away and comes back is shown and survived', async (t) => {
  const data = scratch(t);
  const before = await serve(t, { data });
  const { page } = await browse(t);
  await contribute(page, before.url);

  await before.program.kill();
  await page.locator('[data-testid="connection"][data-state="waiting"]').waitFor();
  assert.equal(await byId(page, 'headline').textContent(), 'Connection lost');
  await picture(page, 'contribute-lost');
  await serve(t, { data, listen: new URL(before.url).host });

  await page.locator('[data-testid="connection"][data-state="open"]').waitFor();
  const { job } = await submit(t, before.url, hashJob({ tasks: 2 }));
  assert.equal(job.state, 'done');
});

test('a lost GPU is shown, replaced, and the job goes on', async (t) => {
  const { url } = await serve(t);
  const { page, context } = await browse(t);
  await contribute(page, url);
  await submit(t, url, hashJob({ tasks: 2, name: 'before' }));
  await page.evaluate(() => {
    globalThis.alerts = [];
    new MutationObserver(() => {
      const alert = document.querySelector('[role=alert]')?.textContent;
      if (alert) globalThis.alerts.push(alert);
    }).observe(document.body, { subtree: true, childList: true });
  });

  const browser = await context.browser().newBrowserCDPSession();
  await browser.send('Browser.crashGpuProcess');
  await until(() => page.evaluate(() => globalThis.alerts.some((alert) => alert.includes('The GPU was lost'))), 'the loss is shown', 120);
  await until(async () => (await page.getByRole('alert').count()) === 0, 'a new device is there', 120);

  const { job } = await submit(t, url, hashJob({ tasks: 4, name: 'after' }));
  assert.equal(job.state, 'done');
});

test('from another address: plain http says what is missing, TLS lets the tab join', async (t) => {
  const lan = { args: ['--host-resolver-rules=MAP lan.test 127.0.0.1'], ignoreHTTPSErrors: true };
  const named = ['--host', 'lan.test']; // Requests with other host names get 421.
  const plain = await serve(t, { args: named });
  const { page } = await browse(t, lan);
  await page.goto(plain.url.replace(/\/\/[^:/]+/, '//lan.test'));
  const text = await byId(page, 'insecure').textContent();
  assert.match(text, /without TLS/);
  for (const missing of ['WebGPU', 'WebCrypto', '--tls-self-signed', '--tls-cert']) assert.ok(text.includes(missing), missing);
  assert.equal(await startButton(page).count(), 0);
  await picture(page, 'contribute-insecure');
  await plain.program.stop();

  const secure = await serve(t, { args: [...named, '--tls-self-signed'] });
  assert.match(secure.url, /^https:/);
  await contribute(page, secure.url.replace(/\/\/[^:/]+/, '//lan.test'));
});

test('a self-signed certificate: the visitor passes the warning, and the tab works over TLS', async (t) => {
  const { url } = await serve(t, { args: ['--host', 'lan.test', '--tls-self-signed'] });
  const named = url.replace(/\/\/[^:/]+/, '//lan.test');
  const { page } = await browse(t, { args: ['--host-resolver-rules=MAP lan.test 127.0.0.1'] });

  await assert.rejects(page.goto(named), /ERR_CERT_AUTHORITY_INVALID/);
  await page.locator('#details-button').click();
  await page.locator('#proceed-link').click();

  await startButton(page).waitFor();
  assert.equal(await page.evaluate(() => globalThis.isSecureContext && 'gpu' in navigator), true);
  await startButton(page).click();
  await page.locator('[data-testid="connection"][data-state="open"]').waitFor();
});
