// Tests the compiler cache together with the precompiled headers of
// cmake/precompiled_headers.cmake. If a header has other comments in another checkout, that
// checkout does not get the first one's precompiled header, because the compiler would refuse it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// Makes and builds a project with one precompiled header and one source. The header contains
// `comment`; `settings` are options for CMake.
function checkout(folder, name, comment, ...settings) {
  const write = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(folder, name, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, name, file), text);
  };
  write('src/common/base/result.h', `// ${comment}\n#pragma once\nenum class ErrorCode { ok };\n`);
  // Each checkout's source contains its name, so that the cache does not return the object file of
  // another checkout.
  write('src/common/base/format.h', '// Nothing.\n');
  write('one.cpp', `#include "common/base/result.h"\nErrorCode one() { return ErrorCode::ok; }  // ${name}\n`);
  write(
    'CMakeLists.txt',
    `cmake_minimum_required(VERSION 3.28)
project(one CXX)
list(APPEND CMAKE_MODULE_PATH ${JSON.stringify(path.join(root, 'cmake'))})
include(compiler)
add_library(GTest::gtest INTERFACE IMPORTED)
add_library(GTest::gmock INTERFACE IMPORTED)
include(precompiled_headers)
add_library(one OBJECT one.cpp)
target_link_libraries(one PRIVATE weft_compile_options)
weft_precompiled(one)
`,
  );
  const run = (...command) => {
    const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), {
      cwd: path.join(folder, name),
      encoding: 'utf8',
      env: { ...process.env, CCACHE_DIR: path.join(folder, 'cache'), CCACHE_DISABLE: undefined },
    });
    return { status, text: stdout + stderr };
  };
  const configure = ['-B', 'build', '-G', 'Ninja', '-DCMAKE_CXX_COMPILER=g++', '-DCMAKE_BUILD_TYPE=Release'];
  const configured = run('cmake', ...configure, ...settings);
  assert.equal(configured.status, 0, configured.text);
  return run('cmake', '--build', 'build', '--target', 'one');
}

function newFolder(t) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'weft-precompiled-')));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('a precompiled header from the cache has the comments of the checkout', { timeout: 300_000 }, (t) => {
  const folder = newFolder(t);
  for (const [name, comment] of Object.entries({ a: 'Some words.', b: 'Other words.' })) {
    const built = checkout(folder, name, comment);
    assert.equal(built.status, 0, built.text);
  }
});

test('an entry of the cache that was written without regard to comments is not found', { timeout: 300_000 }, (t) => {
  const folder = newFolder(t);
  const sloppiness = 'time_macros,pch_defines,include_file_mtime,include_file_ctime';
  const launcher = (name) =>
    `cmake;-E;env;CCACHE_BASEDIR=${path.join(folder, name)};CCACHE_NOHASHDIR=yes;CCACHE_SLOPPINESS=${sloppiness};ccache`;
  const careless = (name, comment) => checkout(folder, name, comment, `-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher(name)}`);
  assert.equal(careless('a', 'Some words.').status, 0);
  // The entry that the cache finds leads to the header of `a`.
  const mixed = careless('b', 'Other words.');
  assert.match(mixed.text, /multiple definition of .*ErrorCode/);
  fs.rmSync(path.join(folder, 'b'), { recursive: true });
  const built = checkout(folder, 'b', 'Other words.');
  assert.equal(built.status, 0, built.text);
});
