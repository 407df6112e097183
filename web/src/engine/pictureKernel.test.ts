import { expect, test } from 'vitest';
import { tooLarge } from './pictureKernel';

const limits = { maxTextureDimension2D: 8192, maxStorageBufferBindingSize: 128 << 20 };

test('a picture that a GPU cannot hold is refused with its sizes, before anything is recorded', () => {
  expect(tooLarge(1280, 720, limits)).toBeNull();
  expect(tooLarge(8192, 4096, limits)).toBeNull();
  expect(tooLarge(8193, 16, limits)).toMatch(/^The picture has 8193 × 16 pixels, .* at most 8192 pixels a side/);
  expect(tooLarge(16, 8193, limits)).toMatch(/too large for this GPU/);
  // A row of 8,129 pixels takes as many bytes as one of 8,192.
  expect(tooLarge(8129, 4097, limits)).toMatch(/33554432 in all/);
});
