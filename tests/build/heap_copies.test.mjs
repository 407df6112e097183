// Tests that data from the page are copied to a WebAssembly module's heap, and that a copy is
// refused if the heap has no room: the address 0, which means "no memory", is never written to.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** A library for Emscripten as it is linked: its `$name` is `name`, beside a heap of one page that grows no more. */
function linked(file) {
  const heap = new Uint8Array(65_536).fill(7);
  let top = 1_024;  // Static data are at lower addresses.
  const freed = [], surfaced = [];
  const scope = {
    HEAPU8: heap, TextEncoder, Error,
    _malloc: (bytes) => { if (top + bytes > heap.length) return 0; top += bytes; return top - bytes; },
    _free: (pointer) => freed.push(pointer),
    queueMicrotask: (work) => { try { work(); } catch (error) { surfaced.push(error); } },
    addToLibrary: (library) => { for (const [name, what] of Object.entries(library)) if (name.startsWith('$')) scope[name.slice(1)] = what; },
  };
  vm.runInNewContext(fs.readFileSync(path.join(root, file), 'utf8'), scope, { filename: file });
  return { scope, heap, freed, surfaced, untouched: () => heap.subarray(0, 1_024).every((byte) => byte === 7) };
}
const large = new Uint8Array(100_000).fill(1);
const fitting = new Uint8Array([1, 2, 3]);

test('a call has its texts and bytes on the heap, freed behind it', () => {
  const { scope, heap, freed } = linked('src/bindings/calls.js');
  const seen = [];
  scope.weftInto(['ab', fitting], (text, size, bytes, count) => seen.push([...heap.subarray(text, text + size)], [...heap.subarray(bytes, bytes + count)]));
  assert.deepEqual(seen, [[97, 98], [1, 2, 3]]);
  assert.equal(freed.length, 2);
});

test('a call that the heap has no room for is refused in a sentence, overwrites nothing and frees what it had', () => {
  const { scope, freed, untouched } = linked('src/bindings/calls.js');
  let used = 0;
  const small = new Uint8Array(60_000);
  assert.throws(() => scope.weftInto([fitting, small, small], () => ++used), { message: 'out of memory: the module has no room for 60000 bytes. Release what it holds, or give it less at once.' });
  assert.equal(used, 0);
  assert.ok(untouched());
  assert.equal(freed.length, 2);
  assert.throws(() => scope.weftCall(() => scope.weftInto([small], () => ++used)), /^Error: out of memory/);
  assert.equal(scope.weftCalls.waiting.size, 0, 'no call waits for an answer that cannot come');
});

test('a worker whose heap has no room for what has come says so, and reads nothing at address 0', () => {
  const { scope, heap, surfaced, untouched } = linked('src/apps/worker/web/worker_web.js');
  const seen = [];
  const use = (pointer, size) => seen.push([...heap.subarray(pointer, pointer + size)]);
  scope.weftInto(fitting, use);
  scope.weftInto(new Uint8Array(0), use);
  assert.deepEqual(seen, [[1, 2, 3], []]);
  scope.weftInto(large, use);
  assert.equal(seen.length, 2);
  assert.ok(untouched());
  assert.deepEqual(surfaced.map(({ message }) => message), ['out of memory: the worker has no room for 100000 bytes that have come.']);
});
