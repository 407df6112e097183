// Compares the client library in C++ (src/common/solana) with @solana/kit 8.4 and with the tests'
// own code: addresses, bytes of messages with and without lookup tables, and the tree must be
// equal. Its cases go through build/release/tests/solana_answers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Tree } from './tree.mjs';
import { keyOf, onCurve, sha256, toBase58, transaction } from './wire.mjs';

const program = fileURLToPath(new URL('../../build/release/tests/solana_answers', import.meta.url));
const skip = fs.existsSync(program) ? false : 'build/release/tests/solana_answers is missing; run ./weft test.';
const answers = (lines) => execFileSync(program, { input: lines.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 }).trimEnd().split('\n');

let state = 42;
function random(below) { state = (state + 0x6d2b79f5) | 0; let t = Math.imul(state ^ (state >>> 15), 1 | state); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below); }
const key = (i) => sha256(`key ${i}`);
const text = (i) => toBase58(key(i));

test('1,000 addresses of programs and the curve test agree with @solana/kit', { skip }, async () => {
  const kit = await import('@solana/kit');
  const lines = [], wanted = [];
  for (let i = 0; i < 1_000; ++i) {
    const seeds = Array.from({ length: random(5) }, () => sha256(String(random(1e9))).subarray(0, random(33)));
    lines.push(['address', text(i), ...seeds.map((seed) => seed.toString('hex') || '-')].join(' '));
    const [address, bump] = await kit.getProgramDerivedAddress({ programAddress: text(i), seeds });
    wanted.push(`${address} ${bump}`);
    lines.push(`curve ${text(i)}`);
    wanted.push(onCurve(key(i)) ? 'yes' : 'no');
  }
  assert.deepEqual(answers(lines), wanted);
});

test('1,000 random messages, legacy and version 0, have the bytes that @solana/kit gives them', { skip }, async () => {
  const kit = await import('@solana/kit');
  const lines = [], wanted = [];
  let tabled = 0;
  for (let i = 0; i < 1_000; ++i) {
    const version = random(2) ? 0 : 'legacy';
    const pool = Array.from({ length: 2 + random(12) }, () => 1_000 + random(5_000));
    const payer = 9_000 + random(100), blockhash = text(8_000 + i);
    const words = [], instructions = [];
    for (let n = random(4); n >= 0; --n) {
      const program = 500 + random(20), data = sha256(`data ${i} ${n}`).subarray(0, random(33));
      const accounts = Array.from({ length: random(10) }, () => ({ id: pool[random(pool.length)], role: random(4) }));
      words.push('i', text(program), data.toString('hex') || '-');
      for (const { id, role } of accounts) words.push('a', text(id), `${role & 2 ? 's' : ''}${role & 1 ? 'w' : ''}` || '-');
      instructions.push({ programAddress: text(program), accounts: accounts.map(({ id, role }) => ({ address: text(id), role })), data });
    }
    const tables = {};
    if (version === 0) for (let n = random(3); n > 0; --n) {
      const table = 7_000 + random(500), keys = Array.from({ length: 1 + random(6) }, () => (random(3) ? pool[random(pool.length)] : random(400)));
      if (tables[text(table)]) continue;
      words.push('t', text(table));
      for (const id of keys) words.push('k', text(id));
      tables[text(table)] = keys.map(text);
    }
    let message = kit.createTransactionMessage({ version });
    message = kit.setTransactionMessageFeePayer(text(payer), message);
    message = kit.setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 1n }, message);
    // An account that signs in one instruction, and that another instruction takes from a lookup
    // table, stays a key of the message, because the runtime requires it.
    const signing = new Set(instructions.flatMap(({ accounts }) => accounts.filter(({ role }) => role & 2).map(({ address }) => address)));
    const usable = Object.fromEntries(Object.entries(tables).map(([table, keys]) => [table, keys.map((one) => (signing.has(one) ? text(6_999) : one))]));
    message = kit.appendTransactionMessageInstructions(instructions, message);
    if (version === 0) message = kit.compressTransactionMessageUsingAddressLookupTables(message, usable);
    const compiled = kit.compileTransactionMessage(message);
    if (compiled.addressTableLookups?.length) ++tabled;
    lines.push(['message', version === 0 ? 'v0' : 'legacy', text(payer), blockhash, ...words].join(' '));
    wanted.push(Buffer.from(kit.getCompiledTransactionMessageEncoder().encode(compiled)).toString('hex'));
  }
  assert.ok(tabled > 100, `${tabled} messages use tables`);
  answers(lines).forEach((answer, i) => assert.equal(answer, wanted[i], lines[i]));
});

test('signed transactions are decoded and encoded without a difference', { skip }, () => {
  const lines = [];
  for (let i = 0; i < 100; ++i) {
    const signers = Array.from({ length: 1 + random(3) }, (_, n) => keyOf(`signer ${n}`));
    const instructions = [{ program: key(1), accounts: signers.map((one) => ({ key: one.key, signer: true, writable: !!random(2) })), data: sha256(String(i)) }];
    lines.push(`decode ${transaction(instructions, keyOf('payer'), signers).toString('hex')}`);
  }
  assert.deepEqual(answers(lines), lines.map((line) => line.slice(7)));
});

test('trees have the roots and paths that the program checks', { skip }, () => {
  const lines = [], wanted = [];
  for (const count of [1, 2, 3, 5, 8, 13, 64, 100]) {
    const owners = Array.from({ length: count }, (_, i) => ({ owner: key(count * 1_000 + i), index: i, amount: BigInt(random(1e9)), units: BigInt(random(1e6)) }));
    const tree = new Tree(owners), position = random(2 ** tree.depth);
    lines.push(`tree ${position} ${owners.map(({ owner, index, amount, units }) => `${toBase58(owner)}:${index}:${amount}:${units}`).join(' ')}`);
    wanted.push([`${tree.root.hash.toString('hex')} ${tree.root.sum}`, ...tree.path(position).map((node) => `${node.subarray(0, 32).toString('hex')}:${node.readBigUInt64LE(32)}`)].join(' '));
  }
  assert.deepEqual(answers(lines), wanted);
});
