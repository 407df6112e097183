// The demo is what a newcomer runs first: it kills a worker half way and still ends well, with the same bytes as one machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, run, scratch } from './lib.mjs';

test('the demo ends with two finished jobs, three workers that were paid, a ledger at zero and a picture', { timeout: 150_000 }, async (t) => {
  const folder = scratch(t);

  const { code, stdout, stderr } = await run(['demo', '--json', '--out', folder], { seconds: 120 });

  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout.trim().split('\n').at(-1));
  assert.equal(report.jobs.length, 2);
  assert.deepEqual(report.jobs.map(({ tasks, accepted }) => tasks === accepted), [true, true]);
  assert.equal(report.jobs[0].tasks, 64);
  assert.deepEqual(report.workers.map(({ kind }) => kind).sort(), ['browser', 'native', 'native']);
  for (const worker of report.workers) assert.ok(worker.tasks > 0 && worker.credits > 0, JSON.stringify(worker));
  assert.equal(report.ledger_sum, 0);
  assert.ok(path.isAbsolute(report.png));
  assert.match(stderr, /killed one native worker/);

  const local = await run(['run', path.join(root, 'examples/mandelbrot.json'), '--json', '--png', path.join(folder, 'here.png')]);
  assert.equal(local.code, 0, local.stderr);
  assert.equal(JSON.parse(local.stdout).root, report.jobs[0].root);
  assert.deepEqual(fs.readFileSync(report.png), fs.readFileSync(path.join(folder, 'here.png')));
});
