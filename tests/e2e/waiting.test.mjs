// A job that waits says why: in its document, and on standard error of the command that follows it,
// but never among the results.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { hashJob, matrixJob, writeJob } from './jobs.mjs';
import { Program, getJson, run, scratch, serve, until, weft, work } from './lib.mjs';

const follower = (t, url, wallet, file) =>
  new Program(t, weft, ['submit', file, '--coordinator', url, '--wallet', wallet, '--wait', '--json']);

test('a job without workers, without a GPU and without enough wallets says so while it waits', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t);
  const folder = scratch(t);
  const wallet = path.join(folder, 'client.json');

  // A job with two replicas waits with no worker and with one worker, and runs with two.
  const matrix = follower(t, url, wallet, writeJob(folder, matrixJob({ verify: { compare: 'exact', replicas: 2, audit: 0 } })));
  await matrix.says(/^weft: No worker is connected\. One joins with weft work/m, 30);
  assert.equal(matrix.stderr.match(/No worker is connected/g).length, 1, 'it is said once');
  await work(t, url, { args: ['--device', 'cpu'] });
  await matrix.says(/^weft: Each of the 2 replicas of a task needs a worker of another wallet: 1 placed, and 1 worker in all can run the job\. Another joins with weft work/m, 30);

  // A shader waits if all workers have only processors.
  const shader = follower(t, url, wallet, writeJob(folder, hashJob({ name: 'shader' })));
  await shader.says(/^weft: None of 1 worker has all that the job requires: a GPU \(1 has not\)\./m, 30);
  const { jobs } = await getJson(`${url}/v1/jobs`);
  const { id } = jobs.find(({ name }) => name === 'shader');
  const job = await getJson(`${url}/v1/jobs/${id}`);
  assert.deepEqual(job.waiting.lacks, [{ what: 'a GPU', workers: 1 }]);
  const shown = await run(['submit', '--show', id, '--coordinator', url, '--wallet', wallet]);
  assert.match(shown.stdout, /waiting \(requirements\)/);

  await work(t, url, { args: ['--device', 'cpu'] });
  assert.deepEqual((await matrix.ended).code, 0, matrix.output());
  const done = JSON.parse(matrix.stdout);
  assert.equal(done.state, 'done', 'standard output has the document and nothing else');
  assert.equal(done.waiting.reason, '');
  await until(async () => (await getJson(`${url}/v1/jobs/${id}`)).waiting.lacks[0].workers === 2, 'both lack a GPU');
});
