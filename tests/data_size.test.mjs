// Tests scripts/check-data, which limits the size of tests/data: if a folder is too large, the
// check names the folder's largest files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const check = (...folder) => spawnSync(path.join(root, 'scripts/check-data'), folder, { encoding: 'utf8' });

test('tests/data holds at most 20,000,000 bytes', () => {
  const { status, stderr } = check();
  assert.equal(status, 0, stderr);
});

for (const [bytes, status] of [[19_900_000, 0], [20_000_001, 1]]) {
  test(`a folder with a file of ${bytes} bytes ends the check with ${status}`, (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-data-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(path.join(folder, 'small.bin'), 'x');
    fs.writeFileSync(path.join(folder, 'model.gguf'), '');
    fs.truncateSync(path.join(folder, 'model.gguf'), bytes);

    const answer = check(folder);

    assert.equal(answer.status, status, answer.stderr);
    if (status !== 0) assert.match(answer.stderr, /at most 20000000 are allowed[^]*\n20000001 .*model\.gguf\n/);
  });
}
