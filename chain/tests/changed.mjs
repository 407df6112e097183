#!/usr/bin/env node
// Sends valid instructions with exactly one thing changed: node chain/tests/changed.mjs [COUNT]
// [SEED]. The default is seed 1 and the count that gives each error code 30 times, but at least
// 10,000. (A refused instruction has one error code, so that fewer instructions than 30 for each
// check are not enough.) Amounts and people vary by the seed. Each instruction is really sent, and
// the check that the change is aimed at must refuse it. No account may differ afterwards except
// that of the payer of fees. Every error code is seen COUNT / (number of checks) times.
import assert from 'node:assert/strict';
import * as layout from '../layout.mjs';
import { build } from '../build.mjs';
import { allAttacks } from './attacks.mjs';
import { instruction } from './program.mjs';
import { keyOf } from './wire.mjs';
import { liveWorld, programId } from './world.mjs';

// Mulberry32 by Tommy Ettinger (public domain).
function randomOf(seed) {
  let state = seed >>> 0;
  return () => { state = (state + 0x6d2b79f5) | 0; let t = Math.imul(state ^ (state >>> 15), 1 | state); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32; };
}

export const timesEach = 30;
/** Instructions that give each error code `timesEach` times. */
export const countOfAll = () => Math.max(10_000, timesEach * allAttacks().size);

export function play(count, seed) {
  const world = liveWorld(build().program);
  world.random = randomOf(seed);
  const attacks = [...allAttacks().values()];
  const seen = new Map();
  for (let i = 0; i < count; ++i) {
    const { number, name, prepare } = attacks[i % attacks.length];
    const one = prepare(world);
    const sent = [[...one.before, instruction(programId, one.call)], [...new Set(one.signers)].map((signer) => keyOf(signer))];
    for (const { accounts } of sent[0]) for (const { key } of accounts) world.vm.touch(key);
    const relay = world.vm.relay.key;
    const before = world.vm.keep().accounts.filter(([key]) => !key.equals(relay));
    const result = world.vm.send(...sent);
    assert.ok(!result.ok, `seed ${seed}, ${i}: ${name} went through`);
    assert.equal(result.error.code, number, `seed ${seed}, ${i}: ${name} is refused as ${layout.numbered().get(result.error.code)?.name ?? JSON.stringify(result.error)}`);
    for (const [key, account] of before) assert.deepEqual(world.vm.account(key), account, `seed ${seed}, ${i}: ${name} changed an account`);
    seen.set(number, (seen.get(number) ?? 0) + 1);
  }
  return { seen, checks: attacks.length };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [count = countOfAll(), seed = 1] = process.argv.slice(2).map(Number);
  const began = performance.now();
  const { seen, checks } = play(count, seed);
  const least = seen.size === checks ? Math.min(...seen.values()) : 0;
  console.log(`${count} changed instructions: all refused by the right check, no account changed; ${seen.size} of ${checks} error codes, each at least ${least} times; ${((performance.now() - began) / 1000).toFixed(0)} s`);
  process.exitCode = least >= Math.min(timesEach, Math.max(1, Math.floor(count / checks))) ? 0 : 1;
}
