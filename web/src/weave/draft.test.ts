// Tests that a draft is a cloth that would hold together, and that an address always gives the same draft.
import { describe, expect, it } from 'vitest';
import { draftFor, runs, warpIsUp } from './draft';

const addresses = Array.from({ length: 40 }, (_, i) => `address-${i}`);

describe('draftFor', () => {
  it('gives the same draft for the same address and mostly others for others', () => {
    const texts = addresses.map((address) => JSON.stringify(draftFor(address)));

    expect(addresses.map((address) => JSON.stringify(draftFor(address)))).toEqual(texts);
    expect(new Set(texts).size).toBeGreaterThan(35);
  });

  it('ties every treadle to some shafts and not to others, so that no thread hangs loose', () => {
    for (const address of addresses) {
      for (const treadle of draftFor(address).tieUp) {
        const lifted = treadle.filter(Boolean).length;
        expect(lifted).toBeGreaterThanOrEqual(3);
        expect(lifted).toBeLessThanOrEqual(5);
      }
    }
  });

  it('repeats across the width', () => {
    const draft = draftFor('a wallet');
    const width = draft.threading.length;

    for (let end = 0; end < width; end += 1) expect(warpIsUp(draft, end + width, 3)).toBe(warpIsUp(draft, end, 3));
  });
});

describe('runs', () => {
  it.each([
    [[], []],
    [[true], [[0, 1]]],
    [[false, true, true, false, true], [[1, 3], [4, 5]]],
  ])('of %j are %j', (flags, expected) => {
    expect(runs(flags)).toEqual(expected);
  });
});
