// Tests with the numbers of the tests of src/engine/onnx/vision/picture.cpp, which come from the published rule.
import { expect, test } from 'vitest';
import { fitPixels, pixelShares, placedPart, placeWords, shareTable } from './pictureFit';

const size = { pictureWidth: 1280, pictureHeight: 720, width: 352, height: 352 };

test('a letterboxed picture lies in the middle, a corner picture in the corner, a stretched one everywhere', () => {
  expect(placedPart({ ...size, fit: 'letterbox' })).toEqual({ left: 0, top: 77, width: 352, height: 198, placement: { left: 0, top: 77, scaleX: 0.275, scaleY: 0.275 } });
  expect(placedPart({ ...size, fit: 'topleft' })).toMatchObject({ left: 0, top: 0, width: 352, height: 198 });
  expect(placedPart({ ...size, fit: 'stretch' })).toMatchObject({ width: 352, height: 352, placement: { scaleX: 0.275, scaleY: 352 / 720 } });
  // Halves are rounded to the even number: 3 x 0.5 and 5 x 0.5.
  expect(placedPart({ pictureWidth: 3, pictureHeight: 10, width: 5, height: 5, fit: 'letterbox' }).width).toBe(2);
  expect(placedPart({ pictureWidth: 5, pictureHeight: 10, width: 5, height: 5, fit: 'letterbox' }).width).toBe(2);
});

test('shares sum to one, and a picture of its own size stays as it is', () => {
  for (const [from, to] of [[1280, 352], [17, 70], [1, 3], [5, 5]] as const) {
    for (const { first, weights } of pixelShares(from, to)) {
      expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(first + weights.length).toBeLessThanOrEqual(from);
    }
  }
  const pixels = Uint8ClampedArray.from([1, 2, 3, 9, 4, 5, 6, 9]);
  const same = { pictureWidth: 2, pictureHeight: 1, width: 2, height: 1, fit: 'stretch' } as const;
  expect([...fitPixels(pixels, same, { blueFirst: false, mean: 0, scale: 1 })]).toEqual([1, 4, 2, 5, 3, 6]);
  expect([...fitPixels(pixels, same, { blueFirst: true, mean: 1, scale: 2 })]).toEqual([4, 10, 2, 8, 0, 6]);
});

test('grey is around a letterboxed picture', () => {
  const pixels = new Uint8ClampedArray(2 * 1 * 4).fill(200);
  expect([...fitPixels(pixels, { pictureWidth: 2, pictureHeight: 1, width: 2, height: 3, fit: 'letterbox' }, { blueFirst: false, mean: 0, scale: 1 }).subarray(0, 6)]).toEqual([114, 114, 200, 200, 114, 114]);
});

test('tables are as the shaders read them', () => {
  const table = shareTable([7, 8, 9, 0], [{ first: 3, weights: [0.25, 0.75] }, { first: 4, weights: [1] }]);
  expect([...table.subarray(0, 10)]).toEqual([7, 8, 9, 0, 3, 2, 10, 4, 1, 12]);
  expect([...new Float32Array(table.buffer, 40)]).toEqual([0.25, 0.75, 1]);
  const place = placeWords({ ...size, fit: 'letterbox' }, placedPart({ ...size, fit: 'letterbox' }), { blueFirst: true, mean: 127, scale: 0.5 });
  expect([...place.subarray(0, 7)]).toEqual([352, 352, 0, 77, 352, 198, 1]);
  expect([...new Float32Array(place.buffer, 28)]).toEqual([114, 127, 0.5]);
});
