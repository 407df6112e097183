// A stranger's worker beside the coordinator's own verifier process: what it hands in is computed again in part, on this machine's device,
// and its pay is held.
import assert from 'node:assert/strict';
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

test('a worker of the operator is paid at once, and nothing of it waits for the verifier', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  await work(t, url);

  const { code, stderr, job } = await submit(t, url, hashJob());

  assert.equal(code, 0, `${stderr} ${job.reason}`);
  const worker = await until(async () => (await getJson(`${url}/v1/workers`)).workers.find(({ balance }) => balance > 0), 'the worker is paid');
  assert.equal(worker.held_pay, 0);
});
