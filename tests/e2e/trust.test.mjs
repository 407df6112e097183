// A stranger's worker with the coordinator's own verifier process: parts of its results are
// computed again on this machine's device, and its pay is held.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { hashJob, outputs, writeJob } from './jobs.mjs';
import { getJson, run, scratch, serve, until, work } from './lib.mjs';

async function submit(t, url, manifest) {
  const folder = scratch(t);
  const out = path.join(folder, 'out');
  const answer = await run(['submit', writeJob(folder, manifest), '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--out', out, '--json']);
  return { code: answer.code, stderr: answer.stderr, job: JSON.parse(answer.stdout), outputs: answer.code === 0 ? outputs(out) : null };
}

/** A worker that shows no invitation: it sends none that others could have read. */
async function stranger(t, { url, data }) {
  fs.chmodSync(path.join(data, 'invite'), 0o644);
  const worker = await work(t, url);
  fs.chmodSync(path.join(data, 'invite'), 0o600);
  return worker;
}

test('a stranger alone: the verifier process computes parts of its results again, and its pay is held', { timeout: 180_000 }, async (t) => {
  const network = await serve(t);
  await stranger(t, network);

  const { code, stderr, job, outputs: there } = await submit(t, network.url, hashJob());

  assert.equal(code, 0, `${stderr} ${job.reason}`);
  const folder = scratch(t);
  const here = await run(['run', writeJob(folder, hashJob()), '--out', path.join(folder, 'here')]);
  assert.equal(here.code, 0, here.stderr);
  assert.deepEqual(there, outputs(path.join(folder, 'here')));
  const [worker] = (await getJson(`${network.url}/v1/workers`)).workers;
  assert.equal(worker.accepted, 8);
  assert.ok(worker.held_pay > 0);
  assert.equal(worker.held_pay, worker.balance, 'none of it is free yet');
  const { sum, balances } = await getJson(`${network.url}/v1/ledger`);
  assert.equal(sum, 0);
  assert.ok(balances.some(({ account, amount }) => account.startsWith('held-granted:') && amount > 0));
});

test('a worker of the operator is paid at once, and no part of its pay waits for the verifier', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  await work(t, url);

  const { code, stderr, job } = await submit(t, url, hashJob());

  assert.equal(code, 0, `${stderr} ${job.reason}`);
  const worker = await until(async () => (await getJson(`${url}/v1/workers`)).workers.find(({ balance }) => balance > 0), 'the worker is paid');
  assert.equal(worker.held_pay, 0);
});

const python = '/usr/bin/python3';
/** Suspends a worker in the stored state of a coordinator that has ended, as a conviction a minute ago would do. */
function suspend(data, wallet) {
  const publicKey = Buffer.from(JSON.parse(fs.readFileSync(wallet, 'utf8')).slice(32)).toString('hex');
  const statement = 'INSERT OR REPLACE INTO standings (worker, verified, updated, wrong, suspended_until) VALUES (?, 0, ?, 1, ?)';
  const script = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute(sys.argv[2], (bytes.fromhex(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])))
store.commit()
store.close()`;
  const convicted = Date.now() - 60_000;
  const { status, stderr } = spawnSync(python, ['-c', script, path.join(data, 'weft.db'), statement, publicKey,
    `${convicted}`, `${convicted + 30 * 24 * 3_600_000}`], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

test('worker pardon: the operator alone ends a suspension, and it stays ended after a restart', { timeout: 180_000, skip: !fs.existsSync(python) && 'SKIPPED: python3 is not installed (scripts/setup --dev)' }, async (t) => {
  const data = scratch(t);
  const wallet = path.join(scratch(t), 'wallet.json');
  const before = await serve(t, { data });
  const worker = await work(t, before.url, { wallet });
  const [{ key }] = (await getJson(`${before.url}/v1/workers`)).workers;
  await worker.stop();
  await before.program.stop();
  suspend(data, wallet);
  const suspended = async (url) => {
    const { code, stdout, stderr } = await run(['stake', 'show', '--coordinator', url, '--wallet', wallet, '--json']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout).suspended_until > Date.now();
  };
  const pardon = (url, ...who) => run(['worker', 'pardon', key, '--coordinator', url, ...who, '--json']);

  const network = await serve(t, { data });
  assert.ok(await suspended(network.url), 'the suspension outlives the restart');
  const own = await pardon(network.url, '--wallet', wallet);
  assert.notEqual(own.code, 0);
  assert.match(own.stderr, /Only the operator, with the coordinator's own wallet, pardons workers\./);
  assert.ok(await suspended(network.url), 'a worker does not pardon itself');

  const { code, stdout, stderr } = await pardon(network.url, '--data', data);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), { worker: key, suspended_until: 0 });
  assert.equal(await suspended(network.url), false);
  const again = await pardon(network.url, '--data', data);
  assert.notEqual(again.code, 0);
  assert.match(again.stderr, /is not suspended\./);

  await network.program.stop();
  const after = await serve(t, { data });
  assert.equal(await suspended(after.url), false, 'the pardon is stored');
  await work(t, after.url, { wallet });
  const { code: ended, stderr: why, job } = await submit(t, after.url, hashJob());
  assert.equal(ended, 0, `${why} ${job.reason}`);
  const [{ accepted }] = (await getJson(`${after.url}/v1/workers`)).workers;
  assert.equal(accepted, 8, 'the pardoned worker did it');
});
