// Every numbered check refuses its attack with the check's own number, and no account changes.
// mutants.mjs removes the checks one by one and so shows that each is needed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import * as layout from '../layout.mjs';
import { build } from '../build.mjs';
import { allAttacks } from './attacks.mjs';
import { instruction } from './program.mjs';
import { keyOf } from './wire.mjs';
import { examples, liveWorld, programId } from './world.mjs';

const world = liveWorld(build().program);
export const sendOf = (one) => [[...(one.before ?? []), instruction(programId, one.call)], [...new Set(one.signers)].map((name) => keyOf(name))];

test('a small network lives through deposits, charges, stakes, epochs and claims, and its sums hold after every step', () => {
  assert.ok(world.states.has('late'));
});

test('every instruction has an example that succeeds', () => {
  assert.deepEqual(Object.keys(examples).sort(), Object.keys(layout.instructions).sort());
  for (const [name, { state, make }] of Object.entries(examples)) {
    world.at(state);
    const result = world.vm.attempt(...sendOf({ before: [], ...make(world) }));
    assert.ok(result.ok, `${name}: ${JSON.stringify(result.error)} ${result.logs.join(' ')}`);
  }
});

test('every check stands once in the sources', () => {
  const folder = new URL('../program/', import.meta.url);
  const text = fs.readdirSync(folder).map((file) => fs.readFileSync(new URL(file, folder), 'utf8')).join('\n').replace(/\s+/g, ' ');
  for (const { name } of layout.numbered().values()) assert.equal(text.split(`REQUIRE(${name},`).length - 1, 1, `REQUIRE(${name}, ...)`);
});

test('every check refuses its attack, with its own number', () => {
  const wrong = [];
  for (const [number, { name, attack, prepare }] of allAttacks()) {
    const result = world.vm.attempt(...sendOf(prepare(world)));
    if (result.ok) wrong.push(`${name}: ${attack} went through`);
    else if (result.error.code !== number) wrong.push(`${name} (${number}): refused by ${layout.numbered().get(result.error.code)?.name ?? JSON.stringify(result.error)}`);
  }
  assert.deepEqual(wrong, []);
});
