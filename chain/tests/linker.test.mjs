// The linker makes the same bytes from the same sources, refuses what the machine cannot run, and
// the linked programs compute what C++ defines.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { build, compile } from '../build.mjs';
import { LinkError } from '../linker/elf.mjs';
import { link, murmur3 } from '../linker/link.mjs';
import { keyOf } from './wire.mjs';
import { Vm } from './vm.mjs';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-linker-'));
after(() => fs.rmSync(scratch, { recursive: true }));
const chain = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
let count = 0;
function objectOf(source, more) {
  const file = path.join(scratch, `case${++count}.cpp`);
  fs.writeFileSync(file, source);
  return compile(file, [], more);
}
const entry = 'extern "C" unsigned long entrypoint(const unsigned char* in)';

test('system calls have the names that the machine knows', () => {
  assert.equal(murmur3('sol_log_'), 0x207559bd);
  assert.equal(murmur3(''), 0);
  assert.equal(murmur3('test'), 0xba6bd213);
  assert.equal(murmur3('Hello, world!'), 0xc0363e43);
});

test('what the machine cannot run is refused with a reason', () => {
  const refused = (source, reason) => assert.throws(() => link(objectOf(source)), (error) => error instanceof LinkError && reason.test(error.message), source);
  refused(`unsigned long n = 1; ${entry} { return in[0] + n++; }`, /Writable data \(\.data\)/);
  refused(`unsigned long n; ${entry} { return in[0] + n++; }`, /Writable data \(\.bss\)/);
  refused('extern "C" unsigned long start(const unsigned char*) { return 0; }', /no function 'entrypoint'/);
  refused(`extern const unsigned long there[2]; ${entry} { return there[in[0] & 1]; }`, /'there' has no address/);
  refused(`inline __attribute__((noinline, used)) unsigned long twice(unsigned long x) { return 2 * x; } ${entry} { return twice(in[0]); }`, /second section of code/);
});

test('a relocation that is not known is refused', () => {
  const object = objectOf(`extern "C" unsigned long sol_log_(const char*, unsigned long); ${entry} { return sol_log_("a", in[0]); }`);
  const bad = Buffer.from(object);
  let changed = 0;
  const start = Number(bad.readBigUInt64LE(40));
  for (let i = 0; i < bad.readUInt16LE(60); ++i) {
    const at = start + i * 64;
    if (bad.readUInt32LE(at + 4) !== 9) continue;
    const from = Number(bad.readBigUInt64LE(at + 24));
    if (bad.readUInt32LE(from + 8) === 10 || bad.readUInt32LE(from + 8) === 1) { bad.writeUInt32LE(77, from + 8); ++changed; }
  }
  assert.ok(changed > 0);
  assert.throws(() => link(bad), /Relocation 77/);
});

test('a cut or damaged object is refused or linked, and nothing else happens', () => {
  const object = compile(path.join(chain, 'tests/noop.cpp'));
  for (let size = 0; size < object.length; size += 3) assert.throws(() => link(object.subarray(0, size)), LinkError);
  let state = 1;
  for (let i = 0; i < 2_000; ++i) {
    const bad = Buffer.from(object);
    for (let j = 0; j < 3; ++j) { state = (Math.imul(state, 1103515245) + 12345) >>> 0; bad[(state >>> 8) % bad.length] = state >>> 24; }
    try { link(bad); } catch (error) { assert.ok(error instanceof LinkError, `${i}: ${error.stack}`); }
  }
});

test('the program has the same bytes from another folder, in another locale and as another user', () => {
  const copy = path.join(scratch, 'elsewhere');
  fs.cpSync(chain, copy, { recursive: true, filter: (file) => !file.includes('node_modules') });
  fs.chmodSync(scratch, 0o755);
  const out = path.join(scratch, 'out');
  fs.mkdirSync(out);
  fs.chmodSync(out, 0o777);
  const command = [process.execPath, path.join(copy, 'build.mjs'), out];
  // If the test runs as root, the build runs as a user without rights; otherwise it runs as this
  // user.
  const other = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...command] : command;
  execFileSync(other[0], other.slice(1), { env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', LANG: 'de_DE.UTF-8', TZ: 'Asia/Tokyo', HOME: '/' } });
  assert.ok(fs.readFileSync(path.join(out, 'weft.so')).equals(build().program));
});

test('what the generator writes is what lies in the repository', () => {
  execFileSync(process.execPath, [path.join(chain, 'generate.mjs'), '--check'], { stdio: 'inherit' });
});

function run(source, more) {
  const vm = new Vm(), id = keyOf('a case').key;
  vm.addProgram(id, link(objectOf(source, more)).program);
  return vm.attempt([{ program: id, accounts: [], data: Buffer.from([5]) }]);
}

test('32-bit sums are widened as C++ says: another -mcpu would sign-extend them', () => {
  // The one byte of the data comes after the number of accounts (0) and its own length.
  const source = `__attribute__((noinline)) static unsigned long widened(unsigned a, unsigned b) { return a + b; }
    ${entry} { volatile unsigned start = 0x7ffffffbu; return widened(start, in[16]) >> 32 == 0 && widened(start, in[16]) == 0x80000000ul ? 0 : 1; }`;
  assert.deepEqual(run(source).error, null);
  assert.equal(run(source, ['-mcpu=v3']).error?.code, 1, 'the case would show a wrong -mcpu');
});

test('constants, calls and pointers between constants work', () => {
  const result = run(`static const char word[] = "weft"; static const char* const words[2] = {word, word + 2};
    __attribute__((noinline)) static unsigned long at(const char* const* all, unsigned long i) { return all[i & 1][0]; }
    ${entry} { return at(words, in[16]) == 'f' ? 0 : 1; }`);
  assert.ok(result.ok, JSON.stringify(result));
});
