// The compiler cache and the precompiled headers of cmake/precompiled_headers.cmake: a checkout in which a header has other
// comments gets no precompiled header of another checkout, which the compiler would refuse.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// A project with one header, precompiled, and one source; `comment` stands in the header.
function checkout(folder, name, comment) {
  const write = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(folder, name, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, name, file), text);
  };
  write('src/common/base/result.h', `// ${comment}\n#pragma once\nenum class ErrorCode { ok };\n`);
  write('one.cpp', '#include "common/base/result.h"\nErrorCode one() { return ErrorCode::ok; }\n');
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
  const configured = run('cmake', '-B', 'build', '-G', 'Ninja', '-DCMAKE_CXX_COMPILER=g++', '-DCMAKE_BUILD_TYPE=Release');
  assert.equal(configured.status, 0, configured.text);
  return run('cmake', '--build', 'build', '--target', 'one');
}

test('a precompiled header from the cache has the comments of the checkout', { timeout: 300_000 }, (t) => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'weft-precompiled-')));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  for (const [name, comment] of Object.entries({ a: 'Some words.', b: 'Other words.' })) {
    const built = checkout(folder, name, comment);
    assert.equal(built.status, 0, built.text);
  }
});
