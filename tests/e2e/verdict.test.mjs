// The record of how results were decided: only the job's owner, the worker's owner and the operator
// may read it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { hashJob, writeJob } from './jobs.mjs';
import { getJson, run, scratch, serve, work } from './lib.mjs';

/** A worker that shows no invitation: it sends none that others could have read. */
async function stranger(t, { url, data }, wallet) {
  fs.chmodSync(path.join(data, 'invite'), 0o644);
  const worker = await work(t, url, { wallet });
  fs.chmodSync(path.join(data, 'invite'), 0o600);
  return worker;
}

test('weft verdict: which parts of a stranger’s results were computed again, and the same by weft run', { timeout: 180_000 }, async (t) => {
  const network = await serve(t);
  const { url, data } = network;
  const folder = scratch(t);
  const client = path.join(folder, 'client.json');
  const workers = path.join(folder, 'worker.json');
  const worker = await stranger(t, network, workers);
  const manifest = writeJob(folder, hashJob());
  const submitted = await run(['submit', manifest, '--coordinator', url, '--wallet', client, '--wait', '--json']);
  assert.equal(submitted.code, 0, submitted.stderr);
  assert.match(submitted.stderr, /note: Checking is part of the price: 2\.0 % /);
  const job = JSON.parse(submitted.stdout);
  assert.equal(job.decided, 'All 8 results were computed again in part by the coordinator\'s verifier, which agrees.');
  const verdict = (id, ...more) => run(['verdict', id, '--coordinator', url, ...more]);

  const whole = await verdict(job.id, '--wallet', client, '--json');
  assert.equal(whole.code, 0, whole.stderr);
  const { tasks, checks, corrections } = JSON.parse(whole.stdout);
  assert.equal(tasks.length, 8);
  assert.deepEqual(corrections, []);
  for (const task of tasks) {
    assert.equal(task.basis, 'verifier');
    const of = checks.filter((check) => check.task === task.task);
    assert.ok(of.length > 0, 'each of them was checked');
    assert.ok(of.every(({ by, kind, outcome, root, ranges }) => by === '' && kind === 'sample' && outcome === 'agrees' && root === task.root && ranges.length > 0));
  }
  const one = await verdict(`${job.id}/3`, '--wallet', client);
  assert.equal(one.code, 0, one.stderr);
  assert.match(one.stdout, /sample by the coordinator: agrees/);
  assert.match(one.stdout, /receipt +[0-9a-f]{64} of /);
  assert.match(one.stdout, /weft run MANIFEST --tasks 3/);
  const again = await run(['run', manifest, '--tasks', '3', '--json']);
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(JSON.parse(again.stdout).task_roots, [tasks[3].root], 'what the sentence says can be repeated');

  const [{ key }] = (await getJson(`${url}/v1/workers`)).workers;
  const own = await verdict(key, '--wallet', workers, '--json');
  assert.equal(own.code, 0, own.stderr);
  assert.equal(JSON.parse(own.stdout).checks.length, checks.length);
  const concerned = await verdict(`${job.id}/3`, '--wallet', workers);
  assert.equal(concerned.code, 0, 'the worker sees what was checked of its own result');
  assert.equal((await verdict(job.id, '--data', data)).code, 0, 'the operator');
  assert.match(worker.output(), /The pay is held for 10 minutes: this worker is new here/);

  const other = path.join(folder, 'other.json');
  assert.equal((await run(['wallet', 'new', '--file', other])).code, 0);
  for (const id of [job.id, `${job.id}/3`, key]) {
    const refused = await verdict(id, '--wallet', other);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /is shown to its owner and the operator only/);
  }
  const nonsense = await verdict('nonsense', '--wallet', client);
  assert.equal(nonsense.code, 2);
  assert.match(nonsense.stderr, /neither a job's id \(32 hexadecimal digits\), nor a task \(JOB\/INDEX\), nor a worker's key/);
  assert.equal((await verdict(`${job.id}/8`, '--wallet', client)).code, 2, 'there is no such task');
});
