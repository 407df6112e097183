#!/usr/bin/env node
// Builds the on-chain program: node chain/build.mjs [FOLDER]. The default folder is build/chain.
// The bytes depend only on the sources and the compiler's version. Needs clang++-21 (scripts/setup
// installs it).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { link } from './linker/link.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
export const compiler = 'clang++-21';
// -mcpu=v2, because the machine sign-extends 32-bit sums, while code for v3 and later expects zeros
// in the upper 32 bits; a test runs that case.
export const flags = ['-target', 'bpf', '-mcpu=v2', '-std=c++23', '-O2', '-ffreestanding', '-fno-exceptions', '-fno-rtti', '-fno-threadsafe-statics',
  '-fno-jump-tables', '-fno-stack-protector', '-mllvm', '-bpf-stack-size=4096', '-Wall', '-Wextra', '-Werror', '-Wno-unused-const-variable', '-Wno-unused-function'];

export function compile(source, definitions = [], more = []) {
  return execFileSync(compiler, [...flags, ...more, ...definitions.map((one) => `-D${one}`), '-c', path.basename(source), '-o', '-'], { cwd: path.dirname(source), maxBuffer: 1 << 24 });
}
export const build = (definitions = []) => link(compile(path.join(here, 'program/program.cpp'), definitions));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? path.join(here, '../build/chain');
  fs.mkdirSync(folder, { recursive: true });
  const { program, instructions, syscalls } = build();
  fs.writeFileSync(path.join(folder, 'weft.so'), program);
  const version = execFileSync(compiler, ['--version'], { encoding: 'utf8' }).split('\n')[0];
  console.log(`${path.join(folder, 'weft.so')}: ${program.length} bytes, ${instructions} instructions, by ${version}; system calls: ${syscalls.join(' ')}`);
}
