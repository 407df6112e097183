// scripts/tidy skips batches that have not changed since they were clean, and no others: a change
// of anything that a result depends on makes the batch run again.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../scripts/tidy-batches.mjs');
const half = 'inline double half(int a) { return a / 2.0; }\n';
const lossy = 'inline double half(int a) { return a / 2; }\n';

// Makes a tree with the given sources (names and texts), each compiled with `flags`.
function tree(t, sources, flags = '') {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'weft-tidy-')));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const write = (name, text) => {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  };
  const compile = (more) =>
    write(
      'build/tidy/compile_commands.json',
      JSON.stringify(
        Object.keys(sources)
          .filter((name) => name.endsWith('.cpp'))
          .map((name) => ({
            directory: path.join(root, 'build/tidy'),
            command: `/usr/bin/c++ -I${root}/src -I${root}/build/tidy/generated ${more} -o x.o -c ${root}/${name}`,
            file: path.join(root, name),
          })),
      ),
    );
  write('.clang-tidy', "Checks: '-*,bugprone-integer-division'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n");
  for (const [name, text] of Object.entries(sources)) write(name, text);
  compile(flags);
  const run = (environment = {}) => {
    // The clock of a file system is coarser than a run is short: a file must be older than the run
    // that reads the file.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      env: { ...process.env, WEFT_TIDY_ROOT: root, ...environment },
    });
    const [, read, unchanged] = /\((\d+) read, (\d+) unchanged/.exec(stdout) ?? [];
    return { status, read: Number(read), unchanged: Number(unchanged), text: stdout + stderr };
  };
  return { root, write, compile, run };
}

const one = { 'src/part/half.h': half, 'src/part/a.cpp': '#include "part/half.h"\nnamespace a {\ndouble b = half(1);\n}\n' };

function cleanTree(t, sources = one, flags = '') {
  const made = tree(t, sources, flags);
  const first = made.run();
  assert.equal(first.status, 0, first.text);
  assert.deepEqual([first.read, first.unchanged], [1, 0]);
  const second = made.run();
  assert.deepEqual([second.status, second.read, second.unchanged], [0, 0, 1], 'nothing changed');
  return made;
}

test('a changed header makes its batch run again, until it is clean', (t) => {
  const { write, run } = cleanTree(t);

  write('src/part/half.h', lossy);
  for (let i = 0; i < 2; i += 1) {
    const found = run();
    assert.equal(found.status, 1, 'a finding leaves no stamp');
    assert.match(found.text, /half\.h:1:\d+: error: .*bugprone-integer-division/);
    assert.match(found.text, /^1 findings$/m);
  }

  write('src/part/half.h', half);
  assert.deepEqual([run().read, run().read], [1, 0]);
});

test('so do a source, the checks, the flags, and a header that comes in the place of another', (t) => {
  // Only GCC has --param.
  const { write, compile, run } = cleanTree(t, one, '-DA -Werror --param=ggc-min-heapsize=800000');

  write('src/part/a.cpp', `${one['src/part/a.cpp']}// More.\n`);
  assert.deepEqual([run().read, run().read], [1, 0], 'a source');

  write('.clang-tidy', "Checks: '-*,bugprone-integer-division,bugprone-sizeof-expression'\nHeaderFilterRegex: '.*'\n");
  assert.deepEqual([run().read, run().read], [1, 0], 'the checks');

  compile('-DB');
  assert.deepEqual([run().read, run().read], [1, 0], 'the flags');

  write('src/part/part/half.h', lossy);
  assert.equal(run().status, 1, 'a nearer header of the same name');
});

test('a header that is gone is an error, not what it was', (t) => {
  const { root, run } = cleanTree(t);

  fs.rmSync(path.join(root, 'src/part/half.h'));

  const found = run();
  assert.equal(found.status, 1);
  assert.match(found.text, /'part\/half\.h' file not found/);
});

test('a batch holds sources of different namespaces only, and a change runs its own batch again', (t) => {
  const { write, run } = tree(t, {
    'src/part/a.cpp': 'namespace a {\nnamespace {\nint same = 1;\n}\nint b = same;\n}\n',
    'src/part/c.cpp': 'namespace c {\nnamespace {\nint same = 1;\n}\nint d = same;\n}\n',
    'src/part/e.cpp': 'namespace a {\nnamespace {\nint same = 1;\n}\nint f = same;\n}\n',
  });
  assert.deepEqual([run().read, run().unchanged], [2, 2]);

  write('src/part/e.cpp', 'namespace a {\nint f = 2;\n}\n');

  const again = run();
  assert.deepEqual([again.read, again.unchanged], [1, 1], again.text);
});

test('a clang-tidy that ends without a finding or a result is a failure', (t) => {
  const { root, write, run } = tree(t, one);
  write('bin/clang-tidy-21', '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "out of memory" >&2\nexit 139\n');
  fs.chmodSync(path.join(root, 'bin/clang-tidy-21'), 0o755);

  const found = run({ PATH: `${root}/bin:${process.env.PATH}` });

  assert.equal(found.status, 1);
  assert.match(found.text, /part_0: clang-tidy-21 ends with 139: out of memory/);
});

test('a run that read no file leaves no stamp', (t) => {
  const { root, write, run } = tree(t, one);
  write('bin/clang-tidy-21', '#!/bin/sh\nexit 0\n');
  fs.chmodSync(path.join(root, 'bin/clang-tidy-21'), 0o755);
  const environment = { PATH: `${root}/bin:${process.env.PATH}` };

  assert.deepEqual([run(environment).read, run(environment).read], [1, 1]);
});
