// A job of eight steps that cannot be cut, on strangers' workers: the coordinator's verifier
// computes drawn groups of the steps from the workers' states. An honest worker is paid. A worker
// that leaves steps out is refused.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outputs, writeJob } from './jobs.mjs';
import { Program, getJson, run, scratch, serve, until, work } from './lib.mjs';
import { stepsJob } from './steps-job.mjs';

process.env.LP_NUM_THREADS = '1';

const python = '/usr/bin/python3';
const skip = !fs.existsSync(python) && 'SKIPPED: python3 is not installed (scripts/setup --dev)';
const modified = fileURLToPath(new URL('steps-worker.mjs', import.meta.url));

/** Starts a coordinator that knows one confirmed result of each wallet: half of the groups of its next result are drawn. */
async function knowing(t, wallets) {
  const data = scratch(t);
  await (await serve(t, { data })).program.stop();
  const keys = wallets.map((wallet) => Buffer.from(JSON.parse(fs.readFileSync(wallet, 'utf8')).slice(32)).toString('hex'));
  const script = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
for key in sys.argv[3:]:
  store.execute('INSERT INTO standings (worker, verified, updated, wrong, suspended_until) VALUES (?, 1, ?, 0, 0)', (bytes.fromhex(key), int(sys.argv[2])))
store.commit()
store.close()`;
  const { status, stderr } = spawnSync(python, ['-c', script, path.join(data, 'weft.db'), `${Date.now()}`, ...keys], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return serve(t, { data });
}
async function wallet(t) {
  const file = path.join(scratch(t), 'wallet.json');
  const { code, stderr } = await run(['wallet', 'new', '--file', file]);
  assert.equal(code, 0, stderr);
  return file;
}
/** A worker that shows no invitation. */
async function stranger(t, { url, data }, file) {
  fs.chmodSync(path.join(data, 'invite'), 0o644);
  const worker = await work(t, url, { wallet: file, args: ['--verbose'] });
  fs.chmodSync(path.join(data, 'invite'), 0o600);
  return worker;
}
async function submit(t, url) {
  const folder = scratch(t);
  const out = path.join(folder, 'out');
  const answer = await run(['submit', writeJob(folder, stepsJob()), '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--out', out, '--json'], { seconds: 240 });
  assert.equal(answer.code, 0, answer.stderr);
  return { job: JSON.parse(answer.stdout), bytes: Object.values(outputs(out))[0] };
}
const metric = async (url, name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text())[1]);

test('the verifier computes drawn groups of steps from the states of an honest worker, which is paid', { timeout: 300_000, skip }, async (t) => {
  const honest = await wallet(t);
  const network = await knowing(t, [honest]);
  await stranger(t, network, honest);

  const { job, bytes } = await submit(t, network.url);

  assert.ok(bytes.equals(stepsJob.bytes()), 'the bytes that JavaScript computes');
  const verdict = await run(['verdict', job.id, '--coordinator', network.url, '--wallet', path.join(network.data, 'coordinator.json')]);
  assert.match(verdict.stdout, /Computed steps \d/, `${verdict.stdout}${verdict.stderr}`);
  const worker = await until(async () => (await getJson(`${network.url}/v1/workers`)).workers.find(({ balance }) => balance > 0), 'the worker is paid');
  assert.equal(worker.accepted, 1);
  assert.equal(await metric(network.url, 'weft_states_unanswered_total'), 0);
});

test('a worker that leaves steps out is refused, and the honest one that comes after it is paid', { timeout: 300_000, skip }, async (t) => {
  const honest = await wallet(t), cheat = await wallet(t);
  const network = await knowing(t, [honest, cheat]);
  // Four of eight groups are drawn, and five groups are wrong, so at least one wrong group is
  // drawn.
  const liar = new Program(t, process.execPath, [modified, network.url, cheat, '1', '2', '3', '4', '5']);
  await liar.says(/joined/);
  const submitted = submit(t, network.url);
  await liar.says(/leased .* roots asked/, 60);
  await liar.says(/asked for the states before/, 60);
  await liar.says(/verdict: refused: A check of the result found a wrong step\./, 120);
  await stranger(t, network, honest);

  const { bytes } = await submitted;

  assert.ok(bytes.equals(stepsJob.bytes()), 'the bytes that JavaScript computes');
  const { workers } = await getJson(`${network.url}/v1/workers`);
  assert.deepEqual(workers.map(({ accepted }) => accepted).sort(), [0, 1]);
  assert.ok(workers.find(({ accepted }) => accepted === 1).balance > 0);
  assert.equal(workers.find(({ accepted }) => accepted === 0).balance, 0);
});
