// The default limits of `weft serve` for one client, and the jobs that it accepts without a device,
// with the real program.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { hashJob, matrixJob, writeJob } from './jobs.mjs';
import { run, scratch, serve } from './lib.mjs';

/** Submits a job of a wallet to a network of its own, and returns what the command printed. */
async function submits(t, args = [], env = {}) {
  const { url, data, program } = await serve(t, { args: ['--grant', '100000', ...args], env });
  const folder = scratch(t);
  let jobs = 0;
  return {
    data,
    said: () => program.stderr,
    submit: async (wallet, manifest) => {
      const file = writeJob(folder, { ...manifest, name: `job-${jobs += 1}` });
      const { code, stderr } = await run(['submit', file, '--coordinator', url, '--wallet', path.join(folder, wallet), '--json']);
      return code === 0 ? 'taken' : stderr;
    },
  };
}

test('one client takes a tenth of a small number of jobs, or what the operator says up to half of them', { timeout: 120_000 }, async (t) => {
  const scaled = await submits(t, ['--jobs-max', '20']);
  assert.equal(await scaled.submit('mallory', matrixJob()), 'taken');
  assert.equal(await scaled.submit('mallory', matrixJob()), 'taken');
  assert.match(await scaled.submit('mallory', matrixJob()), /The client has 2 jobs with 2 tasks running already; .* \(--jobs-per-client and --tasks-per-client/);
  assert.equal(await scaled.submit('alice', matrixJob()), 'taken');

  const half = await submits(t, ['--jobs-max', '2', '--jobs-per-client', '2']);
  assert.match(half.said(), /--jobs-per-client 2 is more than half of --jobs-max 2: one client may run 1 job at a time, so that there is room for others\./);
  assert.equal(await half.submit('mallory', matrixJob()), 'taken');
  assert.match(await half.submit('mallory', matrixJob()), /The client has 1 job with 1 task running already/);
  assert.equal(await half.submit('alice', matrixJob()), 'taken');
});

test('without a device shaders are refused, unless the operator has workers compile them first', { timeout: 120_000 }, async (t) => {
  const none = { VK_DRIVER_FILES: '/dev/null', VK_ICD_FILENAMES: '/dev/null' };
  const closed = await submits(t, [], none);
  const refused = await closed.submit('mallory', hashJob());
  assert.match(refused, /has no device to check shaders with, so the job is refused: .*--unchecked-shaders/);
  assert.equal(await closed.submit('mallory', matrixJob()), 'taken', 'a kernel has no shader');

  const open = await submits(t, ['--unchecked-shaders'], none);
  assert.equal(await open.submit('mallory', hashJob()), 'taken', 'the attack');
});
