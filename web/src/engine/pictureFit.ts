// Computes how a picture is fitted to a detector's input, as src/engine/onnx/vision/picture.h does, for the kernel in a tab and, if there
// is no GPU, for plain loops.
import type { FitKind } from './visionMessages';

export type Placement = { readonly left: number; readonly top: number; readonly scaleX: number; readonly scaleY: number };
/** The rectangle of the input that the picture covers; the rest is grey. */
export type Part = { readonly left: number; readonly top: number; readonly width: number; readonly height: number; readonly placement: Placement };
export type Geometry = {
  readonly pictureWidth: number;
  readonly pictureHeight: number;
  readonly width: number;
  readonly height: number;
  readonly fit: FitKind;
};
export type PixelScale = { readonly blueFirst: boolean; readonly mean: number; readonly scale: number };
export type Shares = { readonly first: number; readonly weights: readonly number[] };

export const greyAround = 114;

function halfToEven(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}

export function placedPart({ pictureWidth, pictureHeight, width, height, fit }: Geometry): Part {
  if (fit === 'stretch') return { left: 0, top: 0, width, height, placement: { left: 0, top: 0, scaleX: width / pictureWidth, scaleY: height / pictureHeight } };
  const scale = Math.min(width / pictureWidth, height / pictureHeight);
  const centred = fit === 'letterbox';
  const side = (size: number) => Math.max(1, centred ? halfToEven(size * scale) : Math.floor(size * scale));
  const [w, h] = [side(pictureWidth), side(pictureHeight)];
  const left = centred ? Math.trunc((width - w) / 2) : 0;
  const top = centred ? Math.trunc((height - h) / 2) : 0;
  return { left, top, width: w, height: h, placement: { left, top, scaleX: scale, scaleY: scale } };
}

/**
 * The pixels of `from` that make each pixel of `to`, along one side. Bilinear; if the result is smaller, a triangle filter as wide as the
 * step.
 */
export function pixelShares(from: number, to: number): Shares[] {
  const step = from / to;
  const reach = Math.max(step, 1);
  return Array.from({ length: to }, (_, i) => {
    const centre = (i + 0.5) * step;
    const first = Math.max(0, Math.floor(centre - reach + 0.5));
    const last = Math.min(from, Math.floor(centre + reach + 0.5));
    const weights: number[] = [];
    let sum = 0;
    for (let k = first; k < last; k += 1) {
      const weight = Math.max(0, 1 - Math.abs((k - centre + 0.5) / reach));
      weights.push(weight);
      sum += weight;
    }
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}

/**
 * The table that the shaders read: four numbers; for each pixel the first pixel, the count and the position of its weights; then the
 * weights as f32.
 */
export function shareTable(head: readonly [number, number, number, number], shares: readonly Shares[]): Uint32Array<ArrayBuffer> {
  const weights = shares.reduce((sum, one) => sum + one.weights.length, 0);
  const words = new Uint32Array(4 + 3 * shares.length + weights);
  const floats = new Float32Array(words.buffer);
  words.set(head);
  let next = 4 + 3 * shares.length;
  shares.forEach((one, i) => {
    words.set([one.first, one.weights.length, next], 4 + 3 * i);
    floats.set(one.weights, next);
    next += one.weights.length;
  });
  return words;
}

/** The words of the struct Place in picture_rows.wgsl. */
export function placeWords({ width, height }: Geometry, part: Part, { blueFirst, mean, scale }: PixelScale): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(10);
  words.set([width, height, part.left, part.top, part.width, part.height, blueFirst ? 1 : 0]);
  new Float32Array(words.buffer).set([greyAround, mean, scale], 7);
  return words;
}

const level = (value: number): number => Math.min(255, Math.max(0, Math.floor(value + 0.5)));

/** Computes the input of a detector, [3][height][width], from pixels of four bytes. */
export function fitPixels(pixels: Uint8ClampedArray, geometry: Geometry, { blueFirst, mean, scale }: PixelScale): Float32Array<ArrayBuffer> {
  const part = placedPart(geometry);
  const { pictureWidth, pictureHeight, width, height } = geometry;
  const wide = new Uint8Array(part.width * pictureHeight * 3);
  pixelShares(pictureWidth, part.width).forEach(({ first, weights }, x) => {
    for (let y = 0; y < pictureHeight; y += 1) {
      for (let c = 0; c < 3; c += 1) {
        let sum = 0;
        for (let k = 0; k < weights.length; k += 1) sum += (weights[k] ?? 0) * (pixels[(y * pictureWidth + first + k) * 4 + c] ?? 0);
        wide[(y * part.width + x) * 3 + c] = level(sum);
      }
    }
  });
  const plane = width * height;
  const input = new Float32Array(3 * plane).fill((greyAround - mean) * scale);
  pixelShares(pictureHeight, part.height).forEach(({ first, weights }, y) => {
    for (let x = 0; x < part.width; x += 1) {
      for (let c = 0; c < 3; c += 1) {
        let sum = 0;
        for (let k = 0; k < weights.length; k += 1) sum += (weights[k] ?? 0) * (wide[((first + k) * part.width + x) * 3 + c] ?? 0);
        input[(blueFirst ? 2 - c : c) * plane + (part.top + y) * width + part.left + x] = (level(sum) - mean) * scale;
      }
    }
  });
  return input;
}
