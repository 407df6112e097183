// How end-to-end tests are run (scripts/run-journeys.mjs): three at a time, the longest first, some alone, a failure once more, alone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// Runs files with these texts; `log` has a line "+NAME" when a file begins and "-NAME" when it ends.
function journeys(t, files, environment = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-journeys-'));
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
  const { NODE_TEST_CONTEXT, JOURNEY_LANES, JOURNEY_SECONDS, ...rest } = process.env; // The first is set in a test; node's runner would take it for its own.
  const run = spawnSync(process.execPath, [path.join(root, 'scripts/run-journeys.mjs'), folder, ...paths], {
    encoding: 'utf8',
    env: { ...rest, ...environment },
  });
  return { code: run.status, text: run.stdout + run.stderr, lines: fs.readFileSync(log, 'utf8').trim().split('\n'), folder };
}

const passes = "test('passes', () => {});\n";
const fails = "test('fails', () => assert.fail('on purpose'));\n";

test('three files run side by side', (t) => {
  // Each waits for all, so none ends unless all three run.
  const waits = "test('meets', { timeout: 60_000 }, () => until(() => ['+a', '+b', '+c'].every((line) => said().includes(line))));\n";
  const { code, text } = journeys(t, { a: waits, b: waits, c: waits });
  assert.equal(code, 0, text);
});

test('a file that asks to be alone shares the machine with no other', (t) => {
  const alone = `// Runs alone: the test says so.\n${passes}`;
  const { code, lines } = journeys(t, { a: alone, b: passes, c: passes, d: alone });
  assert.equal(code, 0);
  for (const name of ['a', 'd']) assert.equal(lines.indexOf(`-${name}`) - lines.indexOf(`+${name}`), 1, lines.join(' '));
});

test('the file that took longest in the last run begins first, after those that have not run before', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-seconds-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const kept = path.join(folder, 'seconds.json');
  fs.writeFileSync(kept, JSON.stringify({ short: 2, long: 70 }));
  const { code, text, lines } = journeys(t, { short: passes, long: passes, fresh: passes }, { JOURNEY_LANES: '1', JOURNEY_SECONDS: kept });
  assert.equal(code, 0, text);
  assert.deepEqual(lines.filter((line) => line.startsWith('+')), ['+fresh', '+long', '+short']);
  const seconds = JSON.parse(fs.readFileSync(kept, 'utf8'));
  assert.deepEqual(Object.keys(seconds).sort(), ['fresh', 'long', 'short']);
  assert.ok(seconds.long < 70, 'what it took this time');
});

test('a file that passes at its second run is named, and a file that fails twice ends the run with 1', (t) => {
  const second = "test('the second time', () => assert.ok(said().filter((line) => line === '+once').length > 1));\n";
  const good = journeys(t, { once: second, other: passes });
  assert.equal(good.code, 0, good.text);
  assert.match(good.text, /^PASSED AT THE SECOND RUN: once$/m);
  assert.match(fs.readFileSync(path.join(good.folder, 'e2e-once.tap'), 'utf8'), /^# pass 1$/m);
  const bad = journeys(t, { bad: fails, other: passes });
  assert.equal(bad.code, 1);
  assert.match(bad.text, /^FAILED TWICE: bad$/m);
  assert.equal(bad.lines.filter((line) => line === '+bad').length, 2);
});

test('a number of lanes that is not one is refused', (t) => {
  const { code, text } = journeys(t, { a: passes }, { JOURNEY_LANES: 'many' });
  assert.equal(code, 2);
  assert.equal(text, 'run-journeys: JOURNEY_LANES is "many", not a number from 1 to 64.\n');
});
