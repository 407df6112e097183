// If results cannot be written, the command fails: it prints one sentence, does not end with 0, and
// leaves no partly written file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, run, scratch, weft } from './lib.mjs';

const shell = (line, cwd) => {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line, 'bash', weft], { cwd, encoding: 'utf8', timeout: 60_000 });
  return { code: status, stdout, stderr };
};
const job = path.join(root, 'examples/mandelbrot.json');

test('a full disk behind standard output is said, and not taken for success', async (t) => {
  for (const command of ['plan --json', 'plan', '--version', 'completion bash', `wallet new --json --file '${path.join(scratch(t), 'w.json')}'`]) {
    const { code, stderr } = shell(`"$1" ${command} > /dev/full`);
    assert.equal(stderr, 'weft: Standard output cannot be written: No space left on device.\n', command);
    assert.equal(code, 1, command);
  }
});

test('a reader that takes only the first line ends the command without a word', () => {
  const { stdout, stderr } = shell('"$1" completion bash | head -n 1; echo "${PIPESTATUS[0]}"');
  assert.match(stdout, /^_weft_takes\(\) \{\n(0|141)\n$/);
  assert.equal(stderr, '');
});

test('outputs that do not fit on the disk leave nothing behind', { timeout: 120_000 }, (t) => {
  const folder = scratch(t);
  // A disk on which a file may have 64 KiB. (The test uses the processor, because a GPU's driver
  // writes files of its own.)
  const { code, stdout, stderr } = shell(`trap '' XFSZ; ulimit -f 64; exec "$1" run '${path.join(root, 'examples/matmul.json')}' --device cpu --out . --json`, folder);

  assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: "weft run: Cannot write './matmul.output0.bin': File too large.\n" });
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('a folder for outputs that cannot be made is named', { timeout: 120_000 }, async (t) => {
  const file = path.join(scratch(t), 'file');
  fs.writeFileSync(file, 'here');
  for (const option of [['--out', path.join(file, 'out')], ['--png', path.join(file, 'out', 'x.png')]]) {
    const { code, stderr } = await run(['run', job, ...option]);
    assert.equal(code, 1);
    assert.equal(stderr, `weft run: The folder '${file}/out' cannot be made: Not a directory.\n`);
  }
});
