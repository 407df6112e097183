// Turns the numbers of an output into drawings: the colours of an image, the shape of a line or a histogram. Pure, so that it can be
// tested.

export type Numbers = Int32Array | Uint32Array | Float32Array;

// The colours of `weft run --png`, from deep blue over white and gold to wine red; each begins with its position in thousandths.
const stops: readonly (readonly [number, number, number, number])[] = [
  [0, 6, 12, 60],
  [180, 24, 82, 177],
  [420, 236, 252, 255],
  [640, 255, 176, 20],
  [860, 140, 22, 40],
  [1000, 40, 6, 50],
];

export function colourAt(share: number): readonly [number, number, number] {
  const place = Math.min(1000, Math.max(0, share * 1000));
  let next = 1;
  while (next + 1 < stops.length && place > (stops[next]?.[0] ?? 0)) next += 1;
  const from = stops[next - 1] ?? [0, 0, 0, 0];
  const to = stops[next] ?? from;
  const along = (place - from[0]) / (to[0] - from[0] || 1);
  const mix = (i: 1 | 2 | 3) => Math.round(from[i] + (to[i] - from[i]) * along);
  return [mix(1), mix(2), mix(3)];
}

/**
 * Returns RGBA colours by rank, so that every picture uses all colours. NaN is black, and so is the largest value of integers if many
 * elements have it.
 */
export function pixelsOf(numbers: Numbers): Uint8ClampedArray<ArrayBuffer> {
  const sorted = numbers.filter((value) => !Number.isNaN(value)).sort();
  let end = sorted.length;
  const top = sorted[end - 1];
  if (top !== undefined && !(numbers instanceof Float32Array)) {
    const plateau = lowerBound(sorted, top, end);
    if (plateau > 0 && end - plateau > sorted.length / 1000) end = plateau;
  }
  const colours = new Map<number, readonly [number, number, number]>();
  const pixels = new Uint8ClampedArray(numbers.length * 4);
  for (let i = 0; i < numbers.length; i += 1) {
    const value = numbers[i] ?? NaN;
    let colour = colours.get(value);
    if (colour === undefined) {
      const low = lowerBound(sorted, value, end);
      const high = upperBound(sorted, value, end);
      colour = Number.isNaN(value) || low === high ? [0, 0, 0] : colourAt((low + high) / 2 / end);
      if (colours.size < 65536) colours.set(value, colour);
    }
    pixels.set([...colour, 255], 4 * i);
  }
  return pixels;
}

function lowerBound(sorted: Numbers, value: number, end: number): number {
  let low = 0;
  for (let high = end; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
function upperBound(sorted: Numbers, value: number, end: number): number {
  let low = 0;
  for (let high = end; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const imageSideMax = 4096;
export const isImage = (shape: readonly number[]): boolean => shape.length === 2 && shape.every((side) => side > 1 && side <= imageSideMax);

export type Summary = { readonly count: number; readonly least: number; readonly most: number; readonly mean: number; readonly strange: number };

/** Summarises the finite elements; `strange` counts NaN and infinities. */
export function summaryOf(numbers: Numbers): Summary {
  let least = Infinity;
  let most = -Infinity;
  let sum = 0;
  let strange = 0;
  for (const value of numbers) {
    if (!Number.isFinite(value)) {
      strange += 1;
      continue;
    }
    if (value < least) least = value;
    if (value > most) most = value;
    sum += value;
  }
  return { count: numbers.length, least, most, mean: sum / Math.max(1, numbers.length - strange), strange };
}

export type Plot =
  /** Each column has the least and the greatest value of a run of elements, so that no peak is lost. */
  | { readonly kind: 'line'; readonly columns: readonly { readonly from: number; readonly least: number; readonly most: number }[] }
  | { readonly kind: 'points'; readonly points: readonly (readonly [number, number])[]; readonly left: number }
  | { readonly kind: 'histogram'; readonly bins: readonly { readonly from: number; readonly to: number; readonly count: number }[] };
export type PlotKind = Plot['kind'];

export const plotKinds: readonly PlotKind[] = ['line', 'points', 'histogram'];
const pointsMax = 20_000;

/**
 * Chooses the plot: rows of a few columns are points by their first two columns; a plain list is a line; any other shape is a histogram.
 */
export function plotKindFor(shape: readonly number[]): PlotKind {
  const columns = shape.at(-1) ?? 1;
  if (shape.length === 2 && columns >= 2 && columns <= 4) return 'points';
  return shape.length === 1 ? 'line' : 'histogram';
}

export function plotOf(numbers: Numbers, shape: readonly number[], kind: PlotKind, columns = 480): Plot {
  if (kind === 'line') {
    const step = Math.max(1, Math.ceil(numbers.length / columns));
    const found: { from: number; least: number; most: number }[] = [];
    for (let from = 0; from < numbers.length; from += step) {
      const { least, most } = summaryOf(numbers.subarray(from, from + step));
      if (least <= most) found.push({ from, least, most });
    }
    return { kind, columns: found };
  }
  if (kind === 'points') {
    const width = shape.length >= 2 ? (shape.at(-1) ?? 1) : 1;
    const points: [number, number][] = [];
    const count = Math.floor(numbers.length / width);
    for (let row = 0; row < count && points.length < pointsMax; row += 1) {
      const x = width > 1 ? (numbers[row * width] ?? NaN) : row;
      const y = numbers[row * width + (width > 1 ? 1 : 0)] ?? NaN;
      if (Number.isFinite(x) && Number.isFinite(y)) points.push([x, y]);
    }
    return { kind, points, left: Math.max(0, count - pointsMax) };
  }
  const { least, most } = summaryOf(numbers);
  if (!(least <= most)) return { kind, bins: [] };
  const count = 48;
  const size = (most - least) / count || 1;
  const tally = new Array<number>(count).fill(0);
  for (const value of numbers) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(count - 1, Math.floor((value - least) / size));
    tally[bin] = (tally[bin] ?? 0) + 1;
  }
  return { kind, bins: tally.map((one, i) => ({ from: least + i * size, to: least + (i + 1) * size, count: one })) };
}

/** Formats a number shortly enough for a table's cell or an axis, with enough digits to distinguish neighbours. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString('en');
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(4) : String(Number(value.toPrecision(7)));
}
