// Tests how scripts/run-tests.mjs runs unit tests and files in one queue: as many at once as the
// processors allow, the longest first, some of them alone, and each failed test once more, alone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// Runs files with the given texts, and unit tests that consist of the given shell commands ($LOG is
// the log). `log` has a line "+NAME" for the start of each file and a line "-NAME" for its end.
// `times` are the durations of earlier runs.
function runTests(t, files, { times = {}, units = {}, environment = {} } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-run-tests-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const log = path.join(folder, 'log');
  fs.writeFileSync(log, '');
  const head = (name) => `import fs from 'node:fs'; import test from 'node:test'; import assert from 'node:assert/strict';
const log = ${JSON.stringify(log)}; const say = (what) => fs.appendFileSync(log, what + '\\n'); const said = () => fs.readFileSync(log, 'utf8').split('\\n');
const until = async (condition) => { while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20)); };
say('+${name}'); process.on('exit', () => say('-${name}'));\n`;
  const paths = Object.entries(files).map(([name, text]) => {
    const file = path.join(folder, `${name}.test.mjs`);
    fs.writeFileSync(file, head(name) + text);
    return file;
  });
  // CMake does not change an argument in double brackets.
  fs.writeFileSync(path.join(folder, 'CTestTestfile.cmake'), Object.entries(units).map(([name, shell]) => `add_test(${name} sh -c [[${shell}]])\n`).join(''));
  const kept = path.join(folder, 'times');
  fs.writeFileSync(kept, JSON.stringify(times));
  // Both may be set while this test runs. With the first, node would treat the started run as a
  // part of this one; the second names a file with durations.
  const { NODE_TEST_CONTEXT, TEST_TIMES_FIRST, ...rest } = process.env;
  const run = spawnSync(process.execPath, [path.join(root, 'scripts/run-tests.mjs'), folder, ...Object.keys(units).map((name) => `unit:${name}`), ...paths], {
    encoding: 'utf8',
    env: { ...rest, LOG: log, TEST_UNITS: folder, TEST_TIMES: kept, TEST_PROCESSORS: '2', ...environment },
  });
  return { code: run.status, text: run.stdout + run.stderr, lines: fs.readFileSync(log, 'utf8').trim().split('\n'), folder, times: JSON.parse(fs.readFileSync(kept, 'utf8')) };
}

const passes = "test('passes', () => {});\n";
const fails = "test('fails', () => assert.fail('on purpose'));\n";

const waitsFor = (...names) => `test('meets', { timeout: 60_000 }, () => until(() => ${JSON.stringify(names)}.every((name) => said().includes('+' + name))));\n`;
const most = (lines) => {
  let now = 0;
  return Math.max(...lines.map((line) => (now += line[0] === '+' ? 1 : -1)));
};

test('three files that have not run before share two processors', (t) => {
  const waits = waitsFor('a', 'b', 'c'); // None of the three ends unless all three run at once.
  const { code, text } = runTests(t, { a: waits, b: waits, c: waits });
  assert.equal(code, 0, text);
});

test('tests that mostly wait run beside one that computes, and two that compute fill two processors', (t) => {
  const waits = waitsFor('a', 'b', 'c', 'd', 'e');
  const share = (share) => ({ seconds: 10, share });
  const beside = runTests(t, { a: waits, b: waits, c: waits, d: waits, e: waits }, { times: { a: share(1), b: share(0.2), c: share(0.2), d: share(0.2), e: share(0.2) } });
  assert.equal(beside.code, 0, beside.text);
  const slow = "test('takes a moment', () => new Promise((resolve) => setTimeout(resolve, 300)));\n";
  const full = runTests(t, { a: slow, b: slow, c: slow, d: slow }, { times: { a: share(1), b: share(1), c: share(1), d: share(0.9) } });
  assert.equal(full.code, 0, full.text);
  assert.equal(most(full.lines), 2, full.lines.join(' '));
});

test('a test of more threads than there are processors begins when one is free', (t) => {
  const waits = waitsFor('wide', 'other');
  const { code, text } = runTests(t, { wide: waits, other: waits }, { times: { other: { seconds: 9, share: 1 }, wide: { seconds: 8, share: 1.9 } } });
  assert.equal(code, 0, text);
});

test('unit tests and files are one queue; a unit test that passes is one line, one that fails is shown and run again', (t) => {
  const beside = runTests(t, { file: waitsFor('unit') }, { units: { unit: 'echo +unit >>$LOG; until grep -q +file $LOG; do sleep 0.02; done; echo nothing to see' } });
  assert.equal(beside.code, 0, beside.text);
  assert.match(beside.text, /^ok unit \(.* processors\)$/m);
  assert.doesNotMatch(beside.text, /nothing to see/);
  assert.match(fs.readFileSync(path.join(beside.folder, 'release-ctest/unit.xml'), 'utf8'), /<testcase name="unit"[^>]* status="run"/);
  const broken = runTests(t, {}, { units: { good: 'true', broken: 'echo +broken >>$LOG; echo it broke; exit 1' } });
  assert.equal(broken.code, 1);
  assert.match(broken.text, /it broke/);
  assert.match(broken.text, /^FAILED TWICE: broken$/m);
  assert.deepEqual(broken.lines, ['+broken', '+broken']);
});

test('a file that asks to be alone shares the machine with no other', (t) => {
  const alone = `// Runs alone: the test says so.\n${passes}`;
  const { code, lines } = runTests(t, { a: alone, b: passes, c: passes, d: alone });
  assert.equal(code, 0);
  for (const name of ['a', 'd']) assert.equal(lines.indexOf(`-${name}`) - lines.indexOf(`+${name}`), 1, lines.join(' '));
});

test('the test that took longest in the last run begins first, after those that have not run before', (t) => {
  const before = { short: { seconds: 2, share: 1 }, long: { seconds: 70, share: 1.5 } };
  const { code, text, lines, times } = runTests(t, { short: passes, long: passes, fresh: passes }, { times: before, environment: { TEST_PROCESSORS: '1' } });
  assert.equal(code, 0, text);
  assert.deepEqual(lines.filter((line) => line.startsWith('+')), ['+fresh', '+long', '+short']);
  assert.deepEqual(Object.keys(times).sort(), ['fresh', 'long', 'short']);
  assert.ok(times.long.seconds < 70, 'what it took this time');
  assert.equal(times.long.share, 1.5, 'the largest share');
  assert.ok(times.fresh.share > 0);
});

test('if no test has run yet, the order is that of another machine; what ran here counts more', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-times-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const elsewhere = path.join(folder, 'times.json');
  fs.writeFileSync(elsewhere, JSON.stringify({ first: { seconds: 50, share: 1 }, second: { seconds: 40, share: 1 }, last: { seconds: 60, share: 1 } }));
  const { code, text, lines } = runTests(t, { second: passes, last: passes, first: passes }, {
    times: { last: { seconds: 1, share: 1 } },
    environment: { TEST_PROCESSORS: '1', TEST_TIMES_FIRST: elsewhere },
  });
  assert.equal(code, 0, text);
  assert.equal(lines.filter((line) => line.startsWith('+')).join(' '), '+first +second +last');
});

test('what a test and its processes compute is its share', (t) => {
  const burns = 'sh -c "i=0; while [ \\$i -lt 400000 ]; do i=\\$((i+1)); done"';
  const { code, text, times } = runTests(t, {}, { units: { burns, sleeps: 'sleep 1' } });
  assert.equal(code, 0, text);
  assert.ok(times['unit:burns'].share > 2 * times['unit:sleeps'].share, JSON.stringify(times));
});

test('what a process computes that outlives its parent is in the share, too', (t) => {
  const burn = 'while (process.cpuUsage().user < 1.5e6); fs.appendFileSync(process.env.LOG, "-burn\\n")';
  const orphan = `import { spawn } from 'node:child_process';
test('passes', () => {
  spawn('sh', ['-c', ${JSON.stringify(`node -e '${burn}' & sleep 0.6`)}], { detached: true, stdio: 'ignore' }).unref();
  return until(() => said().includes('-burn'));
});\n`;
  const { code, text, times } = runTests(t, { orphan });
  assert.equal(code, 0, text);
  assert.ok(times.orphan.share * times.orphan.seconds > 1.2, JSON.stringify(times));
});

test('a test that is ended because the time is over leaves no process behind, even if one ignores SIGTERM', (t) => {
  const until = String(Date.now() / 1000 + 3);
  const { lines, text } = runTests(t, {}, { units: { stubborn: 'trap "" TERM; exec >/dev/null 2>&1; echo $$ >>$LOG; sleep 600' }, environment: { TEST_UNTIL: until, TEST_AGAIN_SECONDS: '0' } });
  assert.match(text, /NOT RUN, since the time was over: stubborn/);
  const pid = Number(lines[0]);
  assert.ok(pid > 1, text);
  t.after(() => { try { process.kill(pid, 'SIGKILL'); } catch { /* It has ended. */ } });
  const state = () => { try { return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1][0]; } catch { return 'gone'; } };
  assert.match(state(), /^(gone|Z|X)$/);
});

test('a file that passes at its second run is named, and a file that fails twice ends the run with 1', (t) => {
  const second = "test('the second time', () => assert.ok(said().filter((line) => line === '+once').length > 1));\n";
  const good = runTests(t, { once: second, other: passes });
  assert.equal(good.code, 0, good.text);
  assert.match(good.text, /^PASSED AT THE SECOND RUN: once$/m);
  assert.match(fs.readFileSync(path.join(good.folder, 'e2e-once.tap'), 'utf8'), /^# pass 1$/m);
  const bad = runTests(t, { bad: fails, other: passes });
  assert.equal(bad.code, 1);
  assert.match(bad.text, /^FAILED TWICE: bad$/m);
  assert.equal(bad.lines.filter((line) => line === '+bad').length, 2);
});

test('a number of processors that is not one is refused', (t) => {
  const { code, text } = runTests(t, { a: passes }, { environment: { TEST_PROCESSORS: 'many' } });
  assert.equal(code, 2);
  assert.equal(text, 'run-tests: TEST_PROCESSORS is "many", not a number from 1 to 1024.\n');
});

test('a test that would not end in time is not begun, one that still runs is ended, and neither fails the run', (t) => {
  const inSeconds = (seconds) => ({ TEST_UNTIL: String(Math.floor(Date.now() / 1000) + seconds), TEST_AGAIN_SECONDS: '1' });
  const times = { long: { seconds: 3600, share: 1 }, short: { seconds: 1, share: 1 } };
  const begun = runTests(t, { long: passes, short: passes }, { times, environment: inSeconds(60) });
  assert.equal(begun.code, 0, begun.text);
  assert.deepEqual(begun.lines, ['+short', '-short']);
  assert.match(begun.text, /^NOT RUN, since the time was over: long$/m);
  assert.equal(fs.readFileSync(path.join(begun.folder, 'not-run'), 'utf8'), 'long\n');

  const hangs = "test('hangs', () => new Promise((resolve) => setTimeout(resolve, 600_000)));\n";
  const ended = runTests(t, { hangs }, { environment: inSeconds(4) });
  assert.equal(ended.code, 0, ended.text);
  assert.match(ended.text, /^NOT RUN, since the time was over: hangs$/m);
});

test('a test that failed and is ended in its second run has failed', (t) => {
  const second = "test('fails, then hangs', () => (said().filter((line) => line === '+second').length > 1 ? new Promise((resolve) => setTimeout(resolve, 600_000)) : assert.fail('on purpose')));\n";
  const { code, text } = runTests(t, { second }, { environment: { TEST_UNTIL: String(Math.floor(Date.now() / 1000) + 24), TEST_AGAIN_SECONDS: '12' } });
  assert.equal(code, 1, text);
  assert.match(text, /^FAILED TWICE: second$/m);
});

test('an end of the time that is not a number is refused', (t) => {
  const { code, text } = runTests(t, { a: passes }, { environment: { TEST_UNTIL: 'noon' } });
  assert.equal(code, 2);
  assert.equal(text, 'run-tests: TEST_UNTIL is "noon", not a number of seconds.\n');
});
