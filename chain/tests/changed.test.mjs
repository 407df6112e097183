// A short run of changed.mjs; scripts/test --long plays all 10,000.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play } from './changed.mjs';

test('valid instructions with one thing changed are refused by the check that the change is aimed at', () => {
  const rounds = process.env.WEFT_LONG ? 10_000 : 600;
  const { seen, checks } = play(rounds, 1);
  assert.equal(seen.size, checks);
  if (process.env.WEFT_LONG) assert.ok(Math.min(...seen.values()) >= 30);
});
