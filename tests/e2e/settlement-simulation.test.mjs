// `weft simulate settlement` with small numbers: all sums hold, equal seeds give equal runs, and
// the sums of money show each defect that can be planted. Users run the large simulation themselves
// (docs/settlement.md).
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { run } from './lib.mjs';
import { buildChain } from './settlement.mjs';

before(buildChain);

const small = ['simulate', 'settlement', '--epochs', '6', '--owners', '40', '--json'];

test('a small simulation plays crashes, a stolen key, a vote and forks, and every sum holds', { timeout: 300_000 }, async () => {
  const { code, stdout, stderr } = await run(small, { seconds: 280 });
  assert.equal(code, 0, stderr);
  const played = JSON.parse(stdout);
  assert.equal(played.kept, true);
  assert.equal(played.crashes, 2);
  assert.ok(played.forks >= 2 && played.forked >= 10, JSON.stringify(played));
  assert.ok(played.refused >= 8 && played.looks > played.steps, JSON.stringify(played));
  assert.ok(played.claims >= 40, 'every owner is paid');
  assert.ok(played.stolen_most > 0 && played.stolen_most <= played.stolen_bound);
  assert.match(stderr, /^epoch 6 of 6: /m, 'it says how far it is');
  const { seconds: _, ...again } = JSON.parse((await run(small, { seconds: 280 })).stdout);
  assert.deepEqual(again, { ...again, ...Object.fromEntries(Object.entries(played).filter(([name]) => name !== 'seconds')) });
});

const shown = {
  'claim-twice': /What was paid to owners, against what final rows give them/,
  'lost-spend': /The vault, against deposits - withdrawals - claimed spends - fees/,
  'credit-twice': /Issued credits, against those of the journal/,
  'early-credit': /Credits of a client, against what the chain has charged it|Issued credits, against charges and fees/,
};
for (const [defect, sentence] of Object.entries(shown)) {
  test(`the sums show a planted defect: ${defect}`, { timeout: 300_000 }, async () => {
    const { code, stdout, stderr } = await run([...small, '--plant', defect], { seconds: 280 });
    assert.equal(code, 1, stderr);
    assert.match(JSON.parse(stdout).broken, sentence);
    assert.match(stderr, /BROKEN/);
  });
}

test('what is missing is named', { timeout: 60_000 }, async () => {
  const unknown = await run(['simulate', 'settlement', '--plant', 'nothing']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /claim-twice/);
  const help = await run(['simulate', 'settlement', '--help']);
  assert.match(help.stdout, /Examples:[^]*--epochs 6 --owners 40/);
});
