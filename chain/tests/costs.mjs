#!/usr/bin/env node
// Prints the costs of instructions: compute units, bytes of the transaction, size of the program;
// node chain/tests/costs.mjs. Ends with 1 if a value is above its goal.
import { build } from '../build.mjs';
import { call, instruction } from './program.mjs';
import { Tree } from './tree.mjs';
import * as wire from './wire.mjs';
import { credit, day, examples, liveWorld, programId, start, u32 } from './world.mjs';

const { keyOf } = wire;
const { program } = build();
const world = liveWorld(program);
const rows = [];
const row = (what, result, goal, goalBytes = 1232) => rows.push({ what, units: result.units, bytes: result.bytes, goal, ok: result.ok && (goal === undefined || result.units <= goal) && result.bytes <= goalBytes, error: result.error });

// A tree of 2^depth places, as for a million owners or more, of which only the nodes beside one
// path are made.
function deepClaim(depth, name) {
  const owner = { owner: keyOf(name).key, index: 7, amount: 90n * credit, units: 90n };
  const small = new Tree([owner], { depth: 0 });
  let node = small.root, position = 0;
  const tail = [];
  for (let i = 0; i < depth; ++i) {
    const sibling = { hash: wire.sha256(`sibling ${i}`), sum: 1n };
    const side = (i * 7) & 1;
    position |= side << i;
    tail.push(Buffer.concat([sibling.hash, (() => { const b = Buffer.alloc(8); b.writeBigUInt64LE(1n); return b; })()]));
    const pair = side ? [sibling, node] : [node, sibling];
    const parent = Buffer.concat([Buffer.from([1]), ...pair.map(({ hash, sum }) => { const b = Buffer.alloc(40); hash.copy(b); b.writeBigUInt64LE(sum, 32); return b; })]);
    node = { hash: wire.sha256(parent), sum: pair[0].sum + pair[1].sum };
  }
  return { root: node, tail, position, owner };
}
function claimAt(depth, name, state = 'unbonding-next') {
  world.at(state);
  const { root, tail, position, owner } = deepClaim(depth, name);
  world.must('post', { bond_from: world.tokens('poster') }, { epoch: 1n, root: root.hash, amount: root.sum, units: 90n, emission: root.sum, depth }, { signers: ['poster'] });
  world.vm.warp(day);
  world.must('finalise', { bond_to: world.tokens('poster') }, { slot: 1 });
  world.must('open_page', { payer: keyOf('payer').key, page: world.page(0).key }, { page: 0 }, { signers: ['payer'] });
  const values = { page_bump: world.page(0).bump, place: 1n | (7n << 4n) | (BigInt(position) << 25n), amount: owner.amount, units: owner.units };
  return { keys: { page: world.page(0).key }, values, tail };
}
for (const [name, { state, make }] of Object.entries(examples)) {
  if (name === 'claim') continue;
  world.at(state);
  const one = { before: [], ...make(world) };
  row(name, world.vm.attempt([...one.before, instruction(programId, one.call)], one.signers.map(keyOf)), name === 'post' ? 8_000 : undefined);
}
for (const depth of [20, 21]) {
  const { keys, values, tail } = claimAt(depth, 'bob');
  const first = instruction(programId, call('claim', { ...world.keys, ...keys, to: world.tokens('bob') }, values, tail));
  row(`claim, first of its owner, ${depth} levels`, world.vm.attempt([first]), 11_000, depth === 20 ? 1_199 : 1_232);
  // The owner has claimed something before.
  world.vm.forge(keys.page, (data) => data.writeBigUInt64LE(1n, 7 * 8));
  row(`claim of a known owner, ${depth} levels`, world.vm.attempt([first]), 9_000, depth === 20 ? 1_199 : 1_232);
}
{
  const { keys, values, tail } = claimAt(10, 'erin');
  const erin = keyOf('erin').key, { key: to } = wire.programAddress([erin, wire.tokenProgram, world.mint.key], wire.associatedProgram);
  const create = { program: wire.associatedProgram, data: Buffer.from([1]), accounts: [{ key: world.vm.relay.key, signer: true, writable: true }, { key: to, writable: true }, { key: erin }, { key: world.mint.key }, { key: wire.systemProgram }, { key: wire.tokenProgram }] };
  row('claim with its token account, 10 levels', world.vm.attempt([create, instruction(programId, call('claim', { ...world.keys, ...keys, to }, values, tail))]), 30_000);
}
rows.push({ what: 'program, bytes', units: program.length, bytes: 0, goal: 65_536, ok: program.length <= 65_536 });
for (const { what, units, bytes, goal, ok, error } of rows)
  console.log(`${ok ? 'ok  ' : 'OVER'} ${what.padEnd(42)} ${String(units).padStart(6)}${goal ? ` of ${goal}` : ''}${bytes ? `, ${bytes} bytes` : ''}${error ? ` ${JSON.stringify(error)}` : ''}`);
console.log(`A page of claimed amounts: ${(10_240 + 128) * 6_960} lamports, ${Math.round(((10_240 + 128) * 6_960) / 1_280)} an owner.`);
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
export { start, u32 };
