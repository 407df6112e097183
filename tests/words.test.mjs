// scripts/check-words finds banned words in every kind of text. An entry of its allow-list that
// allows nothing is an error, and no entry hides a second word.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

// Runs the check in a new repository that tracks the given files.
function check(t, files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-words-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  execFileSync('git', ['init', '-q'], { cwd: folder });
  execFileSync('git', ['add', '-A'], { cwd: folder });
  const { status, stdout, stderr } = spawnSync(path.join(root, 'scripts/check-words'), [folder], { encoding: 'utf8' });
  return { status, lines: stdout.split('\n').filter((line) => line !== ''), stderr };
}

test('no file of this repository holds a banned word', () => {
  const { status, stdout, stderr } = spawnSync(path.join(root, 'scripts/check-words'), { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(status, 0, `\n${stdout}${stderr}`);
});

for (const [what, text] of [
  ['a pronoun in a message', 'fail("No lease: nobody asked for it.");'],
  ['a pronoun that begins a sentence', '// Whoever asks gets it.'],
  ['"is none of"', 'fail("--wire f64 is none of f32 and f16.");'],
  ['"is none"', '// An address that is none.'],
  ['"comes about"', 'No TLS connection comes about.'],
  ['a comment that begins with "Of"', 'int tasks;  // Of open jobs.'],
  ['a comment that begins with "Likewise"', 'int b;  // Likewise.'],
  ['"who" in the place of a noun', '// It is paid; who asks again gets no more.'],
  ['a comment of a script', '# Of all of them.'],
  ['"where" for "if"', '// not_found where no job has that id.'],
  ['"where there is none"', '// The rate; 0 where there is none.'],
  ['"another than"', '// A worker answers with another root than the others.'],
  ['"all the same"', '// It is paid all the same.'],
]) {
  test(`finds ${what}`, (t) => {
    const found = check(t, { 'src/clean.h': '// A worker asks.\n', 'src/planted.h': `int a;\n${text}\n` });

    assert.equal(found.status, 1);
    assert.equal(found.lines.length, 1, found.lines.join('\n'));
    assert.match(found.lines[0], /^src\/planted\.h:2: ".+": .+\.$/);
  });
}

test('finds words that the end of a line separates', (t) => {
  const found = check(t, { 'a.h': '// The name is none\n// of these.\n' });

  assert.equal(found.status, 1);
  assert.match(found.lines[0], /^a\.h:1: "is none of": /);
});

test('says nothing about plain sentences and identifiers', (t) => {
  const found = check(t, {
    'a.h': '// Empty if there is none. Of two workers that are free, the first. A client who signs is known.\nint nobody_asked, is_none;\n',
    'b.md': 'Whether the worker is late.\n',
  });

  assert.deepEqual(found, { status: 0, lines: [], stderr: '' });
});

test('an entry for the newer rules covers these alone, and must cover something', (t) => {
  const list = { 'scripts/words-allowed.txt': 'src/ | newer rules | older text\n' };

  assert.equal(check(t, { ...list, 'src/a.h': '// 0 where there is none.\n' }).status, 0);
  assert.equal(check(t, { ...list, 'src/a.h': '// 0 where there is none.\n// Whoever asks.\n' }).status, 1);
  assert.equal(check(t, { ...list, 'src/a.h': '// 0 if there is none.\n' }).status, 1);
});

test('an entry of the allow-list covers its text in its file and nothing else', (t) => {
  const files = { 'src/a.h': 'int nobody = 1;\n', 'src/b.h': 'int nobody = 2;\n' };

  assert.equal(check(t, { ...files, 'scripts/words-allowed.txt': 'src/ | int nobody | an identifier\n' }).status, 0);

  const one = check(t, { ...files, 'scripts/words-allowed.txt': 'src/a.h | int nobody | an identifier\n' });
  assert.equal(one.status, 1);
  assert.deepEqual(one.lines.map((line) => line.split(': ')[0]), ['src/b.h:1']);

  const second = check(t, {
    'a.h': 'int nobody = 1;  // Whoever reads.\n',
    'scripts/words-allowed.txt': 'a.h | int nobody | an identifier\n',
  });
  assert.deepEqual(second.lines.map((line) => line.slice(0, 15)), ['a.h:1: "Whoever']);
});

test('an entry of the allow-list that allows nothing is an error', (t) => {
  const found = check(t, { 'a.h': 'int a;\n', 'scripts/words-allowed.txt': '# Reasons.\na.h | nobody | an identifier\n' });

  assert.equal(found.status, 1);
  assert.deepEqual(found.lines, ['scripts/words-allowed.txt:2: this entry allows nothing: remove it.']);
});

test('an entry of the allow-list without a reason is an error', (t) => {
  const found = check(t, { 'a.h': 'int nobody;\n', 'scripts/words-allowed.txt': 'a.h | nobody\n' });

  assert.equal(found.status, 2);
  assert.match(found.stderr, /^scripts\/words-allowed\.txt:1: an entry is "PATH \| TEXT \| REASON"; this line is not: a\.h \| nobody$/m);
});
