import { expect, test } from 'vitest';
import { batchOfOne, detectorOf, type OnnxInfo } from './onnxDetector';

const info = (input: readonly (number | string)[], ...outputs: (readonly (number | string)[])[]): OnnxInfo => ({
  name: 'm',
  weightBytes: 1,
  inputs: [{ name: 'x', type: 'f32', shape: input }],
  outputs: outputs.map((shape, i) => ({ name: `y${i}`, type: 'f32', shape })),
  device: { kind: 'cpu', name: 'WebAssembly', reason: '' },
});

test('detectors are known by their shapes, as weft detect knows them', () => {
  expect(detectorOf(info([1, 3, 352, 640], [1, 484, 85]))).toMatchObject({ width: 640, height: 352, fit: 'letterbox', mean: 0, outputBytes: 484 * 85 * 4 });
  expect(detectorOf(info([1, 3, 240, 320], [1, 4420, 2], [1, 4420, 4]))).toMatchObject({ fit: 'stretch', mean: 127, scale: 1 / 128 });
  expect(detectorOf(info(['batch', 3, 8, 8], [1, 4, 85]))).toMatchObject({ width: 8 });
});

test.each([
  [info([1, 1, 28, 28], [1, 10])],
  [info([1, 3, 28, 28], [1, 10])],
  [info([1, 3, 'h', 'w'], [1, 4, 85])],
  [info([1, 3, 8, 8], [1, 4, 2], [1, 5, 4])],
  [{ ...info([1, 3, 8, 8], [1, 4, 85]), inputs: [] }],
])('another model is refused with a sentence', (model) => {
  expect(detectorOf(model)).toMatch(/^The model is not a supported detector: /);
});

test('a batch that is a name is one picture', () => {
  expect(batchOfOne(info(['batch', 3, 8, 8], [1, 4, 85]))).toEqual({ batch: 1 });
  expect(batchOfOne(info([1, 'c', 8, 8], [1, 4, 85]))).toEqual({ c: 3 });
  expect(batchOfOne(info([1, 3, 8, 8], [1, 4, 85]))).toBeNull();
  expect(batchOfOne(info(['?', 3, 8, 8], [1, 4, 85]))).toBeNull();
});
