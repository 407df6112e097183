// Tests that ./weft never uses a stale build: every file that the compilers and the page's bundler
// read is below a path that scripts/parts.sh lists for its part, so that ./weft builds the part
// again if the file changes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

function listed(part) {
  const text = execFileSync('bash', ['-c', `. scripts/parts.sh; printf '%s\\n' "\${${part}_sources[@]}"`], { cwd: root, encoding: 'utf8' });
  return text.trim().split('\n');
}

// The files of the repository from which a build folder's targets were made, by ninja's graph and
// by the compilers' own lists.
function compiled(preset, targets) {
  const folder = path.join(root, 'build', preset);
  const run = (...args) => execFileSync('ninja', ['-C', folder, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
  const inputs = run('-t', 'inputs', ...targets).split('\n');
  const objects = new Set(inputs);
  const files = new Set(inputs);
  let wanted = false;
  for (const line of run('-t', 'deps').split('\n')) {
    if (!line.startsWith(' ')) wanted = objects.has(line.split(':')[0]);
    else if (wanted) files.add(line.trim());
  }
  return ours([...files].map((file) => path.resolve(folder, file)));
}

function ours(files) {
  return [...new Set(files)]
    .filter((file) => file.startsWith(`${root}/`) && fs.existsSync(file) && fs.statSync(file).isFile())
    .map((file) => path.relative(root, file))
    .filter((file) => !/^build\/|(^|\/)node_modules\//.test(file));
}

function unlisted(files, paths) {
  return files.filter((file) => !paths.some((one) => file === one || file.startsWith(`${one}/`)));
}

test('every source of the program is watched', () => {
  const files = compiled('release', ['weft']);
  assert.ok(files.length > 300, `only ${files.length} sources were found`);
  assert.deepEqual(unlisted(files, listed('native')), []);
});

test('every source of the tests is watched', () => {
  const files = compiled('release', ['all']);
  assert.ok(files.length > 500, `only ${files.length} sources were found`);
  assert.deepEqual(unlisted(files, listed('tests')), []);
});

test('every source of the WebAssembly is watched', () => {
  const files = compiled('web', ['all']);
  assert.ok(files.length > 150, `only ${files.length} sources were found`);
  assert.deepEqual(unlisted(files, listed('web')), []);
});

// The files that the on-chain program includes, by the compiler's own list. The scripts that build
// the program are in the same folder.
test('every source of the on-chain program is watched', () => {
  const folder = path.join(root, 'chain/program');
  const list = execFileSync('clang++-21', ['-target', 'bpf', '-std=c++23', '-M', 'program.cpp'], { cwd: folder, encoding: 'utf8' });
  const files = ours(list.replace(/^[^:]*:/, '').split(/[\s\\]+/).filter(Boolean).map((file) => path.resolve(folder, file)));
  assert.ok(files.length >= 8, `only ${files.length} sources were found`);
  assert.deepEqual(unlisted(files, listed('chain')), []);
});

// The files that the page imports, followed from its entry. The tests in a folder are no part of
// the page.
test('every source of the page is watched', () => {
  const open = ['web/index.html', 'web/vite.config.ts', 'web/package.json', 'web/tsconfig.json'].map((file) => path.join(root, file));
  for (const folder of ['web/src', 'web/packages/llm', 'web/scripts', 'web/public'])
    for (const entry of fs.readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) open.push(path.join(entry.parentPath, entry.name));
  const files = new Set();
  while (open.length > 0) {
    const file = open.pop();
    if (files.has(file) || /\.test\.tsx?$/.test(file)) continue;
    files.add(file);
    if (!/\.(ts|tsx|mjs|js|css|html)$/.test(file)) continue;
    for (const [, target] of fs.readFileSync(file, 'utf8').matchAll(/(?:from|import|import\()\s*['"](\.{1,2}\/[^'"?]+)/g)) {
      const base = path.resolve(path.dirname(file), target);
      for (const end of ['', '.ts', '.tsx', '.mjs', '/index.ts', '/index.tsx'])
        if (fs.existsSync(base + end) && fs.statSync(base + end).isFile()) open.push(base + end);
    }
  }
  const found = ours([...files]);
  assert.ok(found.length > 100, `only ${found.length} sources were found`);
  assert.deepEqual(unlisted(found, listed('web')), []);
});

test('a source that no part lists is found', () => {
  assert.deepEqual(unlisted(['web/src/main.tsx', 'elsewhere/a.ts'], listed('web')), ['elsewhere/a.ts']);
});
