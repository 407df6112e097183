// A short run of changed.mjs, with each error code once; scripts/test --long plays each error code
// 30 times.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allAttacks } from './attacks.mjs';
import { countOfAll, play, timesEach } from './changed.mjs';

test('valid instructions with one thing changed are refused by the check that the change is aimed at', () => {
  const rounds = process.env.WEFT_LONG ? countOfAll() : allAttacks().size;
  const { seen, checks } = play(rounds, 1);
  assert.equal(seen.size, checks);
  if (process.env.WEFT_LONG) assert.ok(Math.min(...seen.values()) >= timesEach);
});
