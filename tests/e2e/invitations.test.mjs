// A wallet has no credits until an invitation gives it some. The operator's own commands find their
// invitation in the coordinator's folder, and other clients are given one. A worker's invitation
// gives no credits, and a client's gives no trust.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { hashJob, writeJob } from './jobs.mjs';
import { Program, run, scratch, serve, until, weft, work } from './lib.mjs';

async function invite(data, ...args) {
  const { code, stdout, stderr } = await run(['invite', '--data', data, ...args]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** Runs `act` as a user that may not read the coordinator's folder. */
async function asStranger(data, act) {
  fs.chmodSync(path.join(data, 'invite'), 0o644);
  try {
    return await act();
  } finally {
    fs.chmodSync(path.join(data, 'invite'), 0o600);
  }
}

test('a stranger has no credits before it redeems an invitation, once', { timeout: 180_000 }, async (t) => {
  const { url, data } = await serve(t, { args: ['--grant', '5000'] });
  await work(t, url);
  const folder = scratch(t);
  const job = writeJob(folder, hashJob());
  const wallet = path.join(folder, 'stranger.json');
  const at = ['--wallet', wallet, '--coordinator', url];
  const submit = () => asStranger(data, () => run(['submit', job, ...at, '--wait']));

  const poor = await submit();
  assert.notEqual(poor.code, 0);
  assert.match(poor.stderr, /holds 0\.000000 credits.*Ask the operator for an invitation \(weft invite --client\) and redeem it \(weft wallet redeem\)\./);

  const workers = await run(['wallet', 'redeem', await invite(data), ...at]);
  assert.notEqual(workers.code, 0);
  assert.match(workers.stderr, /The invitation is for a worker and brings no credits; an invitation that `weft invite --client` prints does\./);

  const code = await invite(data, '--client');
  const redeemed = await run(['wallet', 'redeem', code, ...at, '--json']);
  assert.equal(redeemed.code, 0, redeemed.stderr);
  const { free, granted } = JSON.parse(redeemed.stdout);
  assert.deepEqual({ free, granted }, { free: 0, granted: 5_000_000_000 });
  const again = await run(['wallet', 'redeem', code, ...at]);
  assert.notEqual(again.code, 0);
  assert.match(again.stderr, /was granted credits before\./);
  const rich = await submit();
  assert.equal(rich.code, 0, rich.stderr);
});

test("the operator's own commands need no invitation: they find it in the coordinator's folder", { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const folder = scratch(t);

  const { code, stderr } = await run(['submit', writeJob(folder, hashJob()), '--wallet', path.join(folder, 'own.json'), '--coordinator', url, '--wait']);

  assert.equal(code, 0, stderr);
});

test("a client's invitation makes no worker trusted, and one invitation is for one wallet where it names it", { timeout: 120_000 }, async (t) => {
  const { url, data } = await serve(t);
  const folder = scratch(t);
  const worker = new Program(t, weft, ['work', '--coordinator', url, '--wallet', path.join(folder, 'worker.json'), '--invite', await invite(data, '--client')]);
  await until(() => /The invitation is for a client, not for a worker\./.test(worker.output()), 'the worker is told so');

  const key = async (name) => JSON.parse((await run(['wallet', 'new', '--file', path.join(folder, name), '--json'])).stdout).key;
  const code = await invite(data, '--client', '--for', await key('named.json'));
  await key('other.json');
  const redeem = (name) => run(['wallet', 'redeem', code, '--wallet', path.join(folder, name), '--coordinator', url]);
  assert.match((await redeem('other.json')).stderr, /The invitation is for another wallet/);
  assert.equal((await redeem('named.json')).code, 0);

  const both = await run(['invite', '--data', data, '--client', '--verifier']);
  assert.notEqual(both.code, 0);
});

test("commands of one new wallet at one moment share the operator's invitation", { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const folder = scratch(t);
  const wallet = path.join(folder, 'own.json');
  assert.equal((await run(['wallet', 'new', '--file', wallet])).code, 0);

  const all = await Promise.all(Array.from({ length: 8 }, (_, i) => run(
    ['submit', writeJob(folder, hashJob({ name: `job${i}` })), '--wallet', wallet, '--coordinator', url, '--wait'],
  )));

  for (const { code, stderr } of all) assert.equal(code, 0, stderr);
});
