// Tests scripts/count-tests.mjs: the last line of its output, and its exit code.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, scratch } from '../e2e/lib.mjs';

const report = (failed) => JSON.stringify({
  testsuites: [{ testsuite: [
    { suite: 'Net', name: 'Answers', status: 'RUN', result: 'COMPLETED', ...(failed ? { failures: [{ failure: 'late' }] } : {}) },
    { suite: 'Net', name: 'Waits', status: 'RUN', result: 'SKIPPED' },
  ].map(({ suite, ...rest }) => ({ classname: suite, ...rest })), name: 'Net' }],
});

function count(t, files) {
  const folder = scratch(t);
  for (const part of ['release', 'release-ctest']) fs.mkdirSync(path.join(folder, part));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name.endsWith('.xml') ? 'release-ctest' : 'release', name), text);
  const { status, stdout } = spawnSync(process.execPath, [path.join(root, 'scripts/count-tests.mjs'), folder], { encoding: 'utf8' });
  return { status, stdout };
}

test('a failure is named and fails the run', (t) => {
  const { status, stdout } = count(t, { 'net_test.json': report(true) });

  assert.equal(status, 1);
  assert.match(stdout, /^FAILED {2}net_test: Net\.Answers\n0 passed, 1 failed, 1 skipped$/m);
});

test('a program that passes at its second run has passed, and is named', (t) => {
  const { status, stdout } = count(t, { 'net_test.json': report(true), 'net_test_1.json': report(false) });

  assert.equal(status, 0);
  assert.match(stdout, /^RUN TWICE: net_test /m);
  assert.match(stdout, /^1 passed, 0 failed, 1 skipped$/m);
});

test('a program that fails twice fails the run', (t) => {
  const { status, stdout } = count(t, { 'net_test.json': report(true), 'net_test_1.json': report(true) });

  assert.equal(status, 1);
  assert.match(stdout, /^0 passed, 1 failed, 1 skipped$/m);
});

test('what ctest says of a program counts where the program gave no report', (t) => {
  const said = (name, outcome) => `<testsuite><testcase name="${name}" classname="${name}" time="0.1" status="${outcome}"></testcase></testsuite>`;
  const { status, stdout } = count(t, { 'net_test.json': report(false), 'net_test.xml': said('net_test', 'run'), 'arrows.xml': said('arrows', 'run'), 'crashes.xml': said('crashes', 'fail') });

  assert.equal(status, 1);
  assert.match(stdout, /^FAILED {2}crashes\n2 passed, 1 failed, 1 skipped$/m);
});

test('what was not run is named and counted, and fails nothing', (t) => {
  const { status, stdout } = count(t, { 'net_test.json': report(false), '../not-run': 'chain\nsanitized\n' });

  assert.equal(status, 0);
  assert.match(stdout, /^NOT RUN chain\nNOT RUN sanitized\n/m);
  assert.match(stdout, /^1 passed, 0 failed, 1 skipped, 2 not run$/m);
});
