// Runs end-to-end tests: each file in a process of its own, three files at a time, because most of them wait for timers, for a
// chain's blocks or for one busy process: alone, a file uses half a core on average.
//
//   node scripts/run-journeys.mjs RESULTS FILE...     results as RESULTS/e2e-NAME.tap
//
// A file with a line "// Runs alone: REASON" shares the machine with no other. A file that fails is run once more, alone, after
// the others; a file that passes only then is named at the end, as an instability to look into.
// The output of a file is printed when it ends (at once, if it is the only one); without a terminal a line every 10 s tells
// which files run. Exit code 1 if a file failed twice. JOURNEY_LANES sets how many run at a time. JOURNEY_SECONDS names a file
// that keeps how long each file took: the longest begin first, so that no long one is left for the end; a file that is not
// in it counts as the longest.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [results, ...files] = process.argv.slice(2);
if (!results || files.length === 0) {
  process.stderr.write('run-journeys: Expected a folder for the results and the test files.\n');
  process.exit(2);
}
const lanes = Number(process.env.JOURNEY_LANES ?? 3);
if (!Number.isInteger(lanes) || lanes < 1 || lanes > 64) {
  process.stderr.write(`run-journeys: JOURNEY_LANES is "${process.env.JOURNEY_LANES}", not a number from 1 to 64.\n`);
  process.exit(2);
}

const name = (file) => path.basename(file, '.test.mjs');
const time = () => new Date().toTimeString().slice(0, 8);
const kept = process.env.JOURNEY_SECONDS;
const seconds = (() => {
  try {
    return JSON.parse(fs.readFileSync(kept, 'utf8'));
  } catch {
    return {}; // No run before this one, or none that ended: the order is no more than a matter of speed.
  }
})();
files.sort((a, b) => (seconds[name(b)] ?? Infinity) - (seconds[name(a)] ?? Infinity) || 0);
const running = new Map(); // File to the time when it began.
const children = new Set();
let ended = 0;
let stopped = false;

function journey(file, streams) {
  return new Promise((resolve) => {
    const began = Date.now();
    running.set(file, began);
    const child = spawn(
      process.execPath,
      ['--test', '--test-timeout=900000', '--test-reporter=spec', '--test-reporter-destination=stdout',
        '--test-reporter=tap', `--test-reporter-destination=${path.join(results, `e2e-${name(file)}.tap`)}`, file],
      { stdio: ['ignore', streams ? 'inherit' : 'pipe', streams ? 'inherit' : 'pipe'] },
    );
    children.add(child);
    const said = [];
    if (!streams) for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (bytes) => said.push(bytes));
    child.on('close', (code) => {
      children.delete(child);
      running.delete(file);
      ended += 1;
      seconds[name(file)] = Math.round((Date.now() - began) / 1000);
      if (!streams) process.stdout.write(`\n-- ${name(file)} (${time()}, ${((Date.now() - began) / 1000).toFixed(0)} s)\n${Buffer.concat(said)}`);
      resolve(code === 0);
    });
  });
}

// Files of one kind, `width` at a time; the files that failed.
async function all(some, width, streams = false) {
  const waiting = [...some];
  const failed = [];
  const lane = async () => {
    for (let file = waiting.shift(); file && !stopped; file = waiting.shift()) if (!(await journey(file, streams))) failed.push(file);
  };
  await Promise.all(Array.from({ length: Math.min(width, waiting.length) }, lane));
  return failed;
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    stopped = true;
    for (const child of children) child.kill(signal);
  });

const alone = (file) => /^\/\/ Runs alone: /m.test(fs.readFileSync(file, 'utf8'));
const progress = setInterval(() => {
  if (process.stdout.isTTY || running.size === 0) return;
  const now = [...running].map(([file, began]) => `${name(file)} (${((Date.now() - began) / 1000).toFixed(0)} s)`);
  process.stdout.write(`weft test: ${Math.min(ended, files.length)} of ${files.length} end-to-end files done; running: ${now.join(', ')}\n`);
}, 10_000);

const single = files.length === 1;
const failed = [
  ...(await all(files.filter((file) => !alone(file)), lanes, single)),
  ...(await all(files.filter(alone), 1, single)),
];
const unstable = [];
const broken = [];
for (const file of failed) {
  if (stopped) break;
  process.stdout.write(`\n== ${name(file)} failed; run once more (${time()})\n`);
  ((await journey(file, true)) ? unstable : broken).push(name(file));
}
clearInterval(progress);
if (kept) fs.writeFileSync(kept, JSON.stringify(seconds));
if (unstable.length > 0) process.stdout.write(`PASSED AT THE SECOND RUN: ${unstable.join(' ')}\n`);
if (broken.length > 0) process.stdout.write(`FAILED TWICE: ${broken.join(' ')}\n`);
process.exitCode = stopped ? 130 : broken.length > 0 ? 1 : 0;
