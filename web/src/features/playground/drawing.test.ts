// Tests that drawings keep every peak and show no number that is not in the data.
import { describe, expect, it } from 'vitest';
import { colourAt, isImage, pixelsOf, plotKindFor, plotOf, summaryOf } from './drawing';

describe('pixelsOf', () => {
  it('colours by rank: least deep blue, most wine red, equal values alike', () => {
    const pixels = pixelsOf(Float32Array.of(-5, 100, 3, 3));

    const at = (i: number) => [...pixels.slice(4 * i, 4 * i + 3)];
    expect(at(2)).toEqual(at(3));
    expect(at(0)).toEqual([...colourAt(0.125)]);
    expect(at(1)).toEqual([...colourAt(0.875)]);
  });

  it('leaves NaN black, and the largest whole number where many share it', () => {
    const pixels = pixelsOf(Float32Array.of(NaN, 1));
    expect([...pixels.slice(0, 4)]).toEqual([0, 0, 0, 255]);
    const plateau = pixelsOf(Uint32Array.of(1, 2, 9, 9));
    expect([...plateau.slice(8, 12)]).toEqual([0, 0, 0, 255]);
    expect([...plateau.slice(0, 3)]).not.toEqual([0, 0, 0]);
  });
});

describe('plotOf', () => {
  it('keeps the one spike among a million', () => {
    const numbers = new Float32Array(1_000_000);
    numbers[777_777] = 42;

    const plot = plotOf(numbers, [1_000_000], 'line');

    if (plot.kind !== 'line') throw new Error('not a line');
    expect(plot.columns.length).toBeLessThanOrEqual(480);
    expect(Math.max(...plot.columns.map((column) => column.most))).toBe(42);
  });

  it('takes the first two of each row as a point, and leaves out what is not finite', () => {
    expect(plotOf(Float32Array.of(1, 2, 3, 4, NaN, 6), [3, 2], 'points')).toEqual({ kind: 'points', points: [[1, 2], [3, 4]], left: 0 });
  });

  it('counts every finite value once in a histogram', () => {
    const plot = plotOf(Float32Array.of(0, 1, 1, 10, Infinity), [5], 'histogram');

    if (plot.kind !== 'histogram') throw new Error('not a histogram');
    expect(plot.bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(4);
    expect(plot.bins.at(-1)?.count).toBe(1);
  });

  it('draws equal values, and none at all', () => {
    expect(plotOf(Float32Array.of(2, 2), [2], 'histogram')).toMatchObject({ bins: expect.arrayContaining([{ from: 2, to: 3, count: 2 }]) });
    expect(plotOf(Float32Array.of(NaN), [1], 'line')).toEqual({ kind: 'line', columns: [] });
  });
});

it.each([
  [[100], 'line'],
  [[100, 4], 'points'],
  [[100, 100], 'histogram'],
] as const)('%j is drawn as %s unless asked otherwise', (shape, kind) => expect(plotKindFor(shape)).toBe(kind));

it('sums up what is finite and counts what is not', () => {
  expect(summaryOf(Float32Array.of(1, NaN, 3, -Infinity))).toEqual({ count: 4, least: 1, most: 3, mean: 2, strange: 2 });
});

it('an image has two dimensions', () => {
  expect(isImage([4, 4])).toBe(true);
  expect(isImage([16])).toBe(false);
  expect(isImage([1, 5000])).toBe(false);
});
