// Runs unit tests and end-to-end tests as one queue, so that tests that wait run beside tests that
// compute.
//
//   node scripts/run-tests.mjs RESULTS TEST...     a TEST is a file, NAME.test.mjs, or unit:NAME, a program that ctest knows
//
// The share of a test is the number of processors that it used on average when it last ran here
// (unknown: 1 for a unit test, 2/3 for an end-to-end test, which mostly waits). A test begins when
// its share is free. The longest tests begin first, so that no long one is left for the end. A file
// with a line "// Runs alone: REASON" shares the machine with no other test. A test that fails is
// run once more, alone, after all others. A test that passes only the second time is named at the
// end, as an instability to look into.
//
// Results: RESULTS/e2e-NAME.tap of a file; RESULTS/release/NAME.json (GoogleTest) and
// RESULTS/release-ctest/NAME.xml of a program. The output of a file is printed when it ends (at
// once, if it is the only test), the output of a program only if it failed. Without a terminal a
// line every 10 s names the running tests. Exit code 1 if a test failed twice.
//
//   TEST_PROCESSORS    how many processors are shared out (all)
//   TEST_TIMES         a file that keeps what each test took: {"NAME": {"seconds": 12, "share": 0.7}}
//   TEST_TIMES_FIRST   what tests took elsewhere, in the same form, for those that have not run here
//   TEST_UNITS         the folder of ctest (build/release)
//   TEST_UNIT_SECONDS  the longest that a unit test may take (900)
//   TEST_UNTIL         the time at which this run ends, in seconds since 1970 (no end). A test that would end later, judged by what it took
//                      before and by how slow this machine is, does not begin; a test that still runs is ended. Both are named in
//                      RESULTS/not-run and do not fail the run.
//   TEST_AGAIN_SECONDS how many of the last seconds before TEST_UNTIL are kept for second runs (600)
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ProcessTimes } from './process-times.mjs';

const [results, ...listed] = process.argv.slice(2);
if (!results || listed.length === 0) {
  process.stderr.write('run-tests: Expected a folder for the results and the tests.\n');
  process.exit(2);
}
const processors = Number(process.env.TEST_PROCESSORS ?? os.availableParallelism());
if (!(processors >= 1 && processors <= 1024)) {
  process.stderr.write(`run-tests: TEST_PROCESSORS is "${process.env.TEST_PROCESSORS}", not a number from 1 to 1024.\n`);
  process.exit(2);
}
const secondsOf = (name, otherwise) => {
  const value = Number(process.env[name] ?? otherwise);
  if (value >= 0) return value;
  process.stderr.write(`run-tests: ${name} is "${process.env[name]}", not a number of seconds.\n`);
  process.exit(2);
};
const until = secondsOf('TEST_UNTIL', Infinity) * 1000;
const firstUntil = until - secondsOf('TEST_AGAIN_SECONDS', 600) * 1000;
const folder = path.resolve(results);
const units = process.env.TEST_UNITS ?? 'build/release';
const kept = process.env.TEST_TIMES;
const timesOf = (file) => {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    // No earlier run has written the file. Unknown times only make the order, and so the run, slower.
    return {};
  }
};
const times = { ...timesOf(process.env.TEST_TIMES_FIRST), ...timesOf(kept) };
// Mesa's software GPU uses one thread: with more, its small dispatches take a tenth more of the
// processors that other tests use.
const environment = { LP_NUM_THREADS: '1', ...process.env };
const time = () => new Date().toTimeString().slice(0, 8);

function fileTest(file) {
  const name = path.basename(file, '.test.mjs');
  return {
    key: name,
    name,
    share: times[name]?.share ?? 2 / 3,
    alone: /^\/\/ Runs alone: /m.test(fs.readFileSync(file, 'utf8')),
    quiet: false,
    command: [process.execPath, '--test', '--test-timeout=900000', '--test-reporter=spec', '--test-reporter-destination=stdout',
      '--test-reporter=tap', `--test-reporter-destination=${path.join(folder, `e2e-${name}.tap`)}`, file],
    environment,
  };
}

function unitTest(name) {
  const key = `unit:${name}`;
  return {
    key,
    name,
    share: times[key]?.share ?? 1,
    alone: false,
    quiet: true,
    command: ['ctest', '--test-dir', units, '-R', `^${name}$`, '--timeout', process.env.TEST_UNIT_SECONDS ?? '900', '--output-on-failure',
      '--no-tests=error', '--output-junit', path.join(folder, 'release-ctest', `${name}.xml`)],
    environment: { ...environment, GTEST_OUTPUT: `json:${path.join(folder, 'release')}/` },
  };
}

const tests = listed.map((test) => (test.startsWith('unit:') ? unitTest(test.slice(5)) : fileTest(test)));
if (tests.some(({ quiet }) => quiet)) fs.mkdirSync(path.join(folder, 'release-ctest'), { recursive: true });
const longest = (a, b) => (times[b.key]?.seconds ?? Infinity) - (times[a.key]?.seconds ?? Infinity) || 0;
tests.sort(longest);

const running = new Map(); // Each running test with its start time.
const children = new Set();
let ended = 0;
let stopped = false;
const notRun = [];

// The slowness of this machine: the seconds that the ended tests took here, and the seconds that
// they were known to take.
const pace = { taken: 0, known: 0 };
const endsBefore = (test, end) => {
  const slower = pace.known > 0 ? Math.max(1, pace.taken / pace.known) : 1;
  return Date.now() + (times[test.key]?.seconds ?? 0) * 1000 * slower <= end;
};

const processTimes = new ProcessTimes();
const sampling = setInterval(() => processTimes.sample(), 500);

// bash writes to the third stream how many seconds of processor time the test and its waited-for
// children have used.
const timed = 'exec 4>&2 2>&3; TIMEFORMAT="%U %S"; time "$@" 2>&4 3>&- 4>&-';

// Resolves to 'passed', 'failed' or, if it was ended at the time `end`, 'late'.
function run(test, end, streams) {
  return new Promise((resolve) => {
    const began = Date.now();
    const known = times[test.key]?.seconds;
    running.set(test, began);
    const output = streams ? 'inherit' : 'pipe';
    const child = spawn('bash', ['-c', timed, 'bash', ...test.command], { stdio: ['ignore', output, output, 'pipe'], env: test.environment, detached: true });
    children.add(child);
    processTimes.begin(child.pid);
    const said = [];
    let used = '';
    let late = false;
    const stop = (signal) => {
      late = true;
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The process group has already ended by itself.
      }
    };
    const timers = end === Infinity ? [] : [setTimeout(stop, end - began, 'SIGTERM'), setTimeout(stop, end - began + 10_000, 'SIGKILL')];
    if (!streams) for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (bytes) => said.push(bytes));
    child.stdio[3].on('data', (bytes) => { used += bytes; });
    child.on('close', (code) => {
      children.delete(child);
      running.delete(test);
      timers.forEach(clearTimeout);
      if (late) stop('SIGKILL'); // The group's leader has ended; its children may ignore SIGTERM or wait for a browser.
      ended += 1;
      const seconds = (Date.now() - began) / 1000;
      if (known > 0 && code === 0) {
        pace.taken += seconds;
        pace.known += known;
      }
      const [user, system] = used.trim().split('\n').at(-1).split(' ').map(Number);
      const share = Math.max(user + system, processTimes.end(child.pid)) / seconds;
      // A test that runs beside others takes longer, so that its measured share is too small.
      // Therefore the largest share is stored.
      if (code === 0 && share >= 0) times[test.key] = { seconds: Math.round(seconds), share: Math.max(times[test.key]?.share ?? 0, Number(share.toFixed(2))) };
      if (!streams) {
        const line = `${test.name} (${time()}, ${seconds.toFixed(0)} s, ${share.toFixed(1)} processors)`;
        if (test.quiet && code === 0) process.stdout.write(`ok ${line}\n`);
        else if (late && code !== 0) process.stdout.write(`ended ${line}: the time for tests is over\n`);
        else process.stdout.write(`\n-- ${line}\n${Buffer.concat(said)}`);
      }
      resolve(code === 0 ? 'passed' : late ? 'late' : 'failed');
    });
  });
}

// Runs tests at the same time as far as the processors suffice, or one at a time; resolves to the
// tests that failed.
function all(some, oneAtATime, streams = false) {
  return new Promise((resolve) => {
    const waiting = [...some];
    const failed = [];
    const inUse = () => [...running.keys()].reduce((sum, { share }) => sum + share, 0);
    // A test that needs more than one processor begins when one is free, because otherwise it would
    // wait until the others are done. A quarter more than all processors may be in use, because
    // tests that alternately compute and wait leave that much on average.
    const room = (test) => running.size < 3 * processors && inUse() + Math.min(test.share, 1) <= 1.25 * processors;
    const fits = (test) => running.size === 0 || (!oneAtATime && room(test));
    const begin = () => {
      for (let next = stopped ? -1 : waiting.findIndex(fits); next >= 0; next = waiting.findIndex(fits)) {
        const [test] = waiting.splice(next, 1);
        if (!endsBefore(test, firstUntil)) {
          notRun.push(test.name);
          continue;
        }
        run(test, firstUntil, streams).then((outcome) => {
          if (outcome === 'failed') failed.push(test);
          if (outcome === 'late') notRun.push(test.name);
          begin();
        });
      }
      if (running.size === 0) resolve(failed);
    };
    begin();
  });
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    stopped = true;
    for (const child of children) process.kill(-child.pid, signal);
  });

const progress = setInterval(() => {
  if (process.stdout.isTTY || running.size === 0) return;
  const now = [...running].map(([test, began]) => `${test.name} (${((Date.now() - began) / 1000).toFixed(0)} s)`);
  process.stdout.write(`weft test: ${Math.min(ended, tests.length)} of ${tests.length} tests done; running: ${now.join(', ')}\n`);
}, 10_000);

const single = tests.length === 1;
const failed = [
  ...(await all(tests.filter(({ alone }) => !alone), false, single)),
  ...(await all(tests.filter(({ alone }) => alone), true, single)),
];
const unstable = [];
const broken = [];
for (const test of failed) {
  if (stopped) break;
  process.stdout.write(`\n== ${test.name} failed; run once more (${time()})\n`);
  ((await run(test, until, true)) === 'passed' ? unstable : broken).push(test.name);
}
clearInterval(progress);
clearInterval(sampling);
if (kept) fs.writeFileSync(kept, JSON.stringify(times));
if (unstable.length > 0) process.stdout.write(`PASSED AT THE SECOND RUN: ${unstable.join(' ')}\n`);
if (notRun.length > 0) {
  process.stdout.write(`NOT RUN, since the time was over: ${notRun.join(' ')}\n`);
  fs.appendFileSync(path.join(folder, 'not-run'), notRun.map((name) => `${name}\n`).join(''));
}
if (broken.length > 0) process.stdout.write(`FAILED TWICE: ${broken.join(' ')}\n`);
process.exitCode = stopped ? 130 : broken.length > 0 ? 1 : 0;
