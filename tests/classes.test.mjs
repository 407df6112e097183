// Tests scripts/measure-classes --check: a class with more than 25 methods or 400 lines must give a
// reason, or be on the list of classes that will be split.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const run = (...options) => spawnSync(path.join(root, 'scripts/measure-classes'), ['--check', ...options], { encoding: 'utf8', maxBuffer: 1 << 26 });

// Runs the check over a new repository with these files.
function check(t, files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-classes-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  execFileSync('git', ['init', '-q'], { cwd: folder });
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  const { status, stdout } = run(folder);
  return { status, lines: stdout.split('\n').filter((line) => line !== '') };
}
const methods = (count) => Array.from({ length: count }, (_, i) => `  void do_${i}();\n`).join('');

test('no class of this repository is large without a reason', () => {
  const { status, stdout, stderr } = run();
  assert.equal(status, 0, `\n${stdout}${stderr}`);
});

test('finds a class with 26 methods, not one with 25', (t) => {
  const found = check(t, { 'a.h': `class Small {\n${methods(25)}};\nclass Big {\n${methods(26)}};\n` });

  assert.equal(found.status, 1);
  assert.deepEqual(found.lines, ['a.h: Big has 26 methods and 28 lines; at most 25 and 400 without a reason before it ("// Large: ...").']);
});

test('counts methods that are defined in another file of the folder', (t) => {
  const found = check(t, { 'a.h': 'class Big {\n  void run();\n};\n', 'a.cpp': `void Big::run() {\n${'  step();\n'.repeat(400)}}\n` });

  assert.equal(found.status, 1);
  assert.match(found.lines[0], /^a\.h: Big has 1 methods and 405 lines;/);
});

test('classes of the same name in two sources are two classes', (t) => {
  const bench = `namespace {\nclass Bench {\n${methods(15)}};\n}\n`;

  assert.equal(check(t, { 'a.cpp': bench, 'b.cpp': bench }).status, 0);
});

test('specializations of a template are classes of their own', (t) => {
  const shape = (of) => `template <>\nstruct Shape<${of}> {\n${methods(20)}};\n`;

  assert.equal(check(t, { 'a.h': shape('A') + shape('B') }).status, 0);
});

test('a reason before the class allows it', (t) => {
  assert.equal(check(t, { 'a.h': `// An interface.\n// Large: one method for each operation of a device.\nclass Big {\n${methods(26)}};\n` }).status, 0);
});

test('a reason before another class does not', (t) => {
  assert.equal(check(t, { 'a.h': `// Large: one method for each operation.\nclass Other {\n  void run();\n};\nclass Big {\n${methods(26)}};\n` }).status, 1);
});

test('an entry of the list allows its class, and must name a class that is large', (t) => {
  const big = `class Big {\n${methods(26)}};\n`;
  assert.equal(check(t, { 'a.h': big, 'scripts/large-classes.txt': 'a.h | Big | to be split\n' }).status, 0);
  assert.equal(check(t, { 'a.h': big, 'scripts/large-classes.txt': 'b.h | Big | to be split\n' }).status, 1);
  const stale = check(t, { 'a.h': 'class Big {\n};\n', 'scripts/large-classes.txt': 'a.h | Big | to be split\n' });
  assert.equal(stale.status, 1);
  assert.match(stale.lines[0], /is not the name of a large class any more; remove the line/);
});
