// Converts numbers to bytes and back, for the data of bindings and for outputs. Little-endian, as in WebGPU.

export type ElementType = 'i32' | 'u32' | 'f32' | 'f16';
export const elementTypes: readonly ElementType[] = ['i32', 'u32', 'f32', 'f16'];

/** The source of a binding's data. All kinds but `bytes` are a few characters, so that a link can contain them. */
export type Fill =
  | { readonly kind: 'numbers'; readonly text: string }
  | { readonly kind: 'count'; readonly first: number; readonly step: number }
  | { readonly kind: 'random'; readonly seed: number; readonly low: number; readonly high: number }
  | { readonly kind: 'zeros' }
  | { readonly kind: 'bytes'; readonly base64: string; readonly name: string };
export type FillKind = Fill['kind'];

export const bytesPerElement = (type: ElementType): number => (type === 'f16' ? 2 : 4);
export const elementsOf = (shape: readonly number[]): number => shape.reduce((product, one) => product * one, 1);

/** Returns the bits of the nearest half float, ties to even. */
export function halfBits(value: number): number {
  const word = new DataView(new ArrayBuffer(4));
  word.setFloat32(0, value);
  const bits = word.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  if (size >= 0x477ff000) return sign | 0x7c00;
  if (size < 0x38800000) return sign | roundTiesToEven(Math.abs(value) * 2 ** 24);
  return sign | (roundTiesToEven((size - 0x38000000) / 2 ** 13) & 0x7fff);
}

function roundTiesToEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

export function halfValue(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

const ranges = { i32: [-(2 ** 31), 2 ** 31 - 1], u32: [0, 2 ** 32 - 1] } as const;

function put(view: DataView, type: ElementType, index: number, value: number): void {
  if (type === 'f32') view.setFloat32(4 * index, value, true);
  else if (type === 'f16') view.setUint16(2 * index, halfBits(value), true);
  else if (type === 'i32') view.setInt32(4 * index, value, true);
  else view.setUint32(4 * index, value, true);
}

/** The generator mulberry32, which gives the same numbers for a seed on every machine. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

const named: Readonly<Record<string, number>> = { nan: NaN, inf: Infinity, '-inf': -Infinity };

function parseNumbers(text: string, type: ElementType): number[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  return words.map((word) => {
    const value = named[word.toLowerCase()] ?? Number(word);
    if (Number.isNaN(value) && word.toLowerCase() !== 'nan') throw new Error(`“${word.slice(0, 20)}” is not a number.`);
    if (type === 'i32' || type === 'u32') {
      const [low, high] = ranges[type];
      if (!Number.isInteger(value) || value < low || value > high) throw new Error(`${word.slice(0, 20)} is not of type ${type}.`);
    }
    return value;
  });
}

/** Returns the bytes of a fill. Throws a sentence if the fill does not fit the shape. With `check`, cheap fills are only checked. */
export function bytesOf(fill: Fill, type: ElementType, shape: readonly number[], { check = false } = {}): Uint8Array {
  const elements = elementsOf(shape);
  const size = elements * bytesPerElement(type);
  if (fill.kind === 'bytes') {
    const bytes = fromBase64(fill.base64);
    if (bytes.length !== size) throw new Error(`${fill.name || 'The file'} has ${bytes.length.toLocaleString('en')} bytes; the shape needs ${size.toLocaleString('en')}.`);
    return bytes;
  }
  const given = fill.kind === 'numbers' ? parseNumbers(fill.text, type) : [];
  if (fill.kind === 'numbers' && given.length !== elements) {
    throw new Error(`The shape needs ${elements.toLocaleString('en')} ${elements === 1 ? 'number' : 'numbers'}; ${given.length.toLocaleString('en')} ${given.length === 1 ? 'is' : 'are'} given.`);
  }
  const whole = type === 'i32' || type === 'u32';
  if (fill.kind === 'count' && !(Number.isFinite(fill.first) && Number.isFinite(fill.step))) throw new Error('Counting needs a first number and a step.');
  if (fill.kind === 'random' && !(Number.isFinite(fill.seed) && fill.low <= fill.high)) throw new Error('Random numbers need a seed and a range, low before high.');
  if (fill.kind === 'count' && whole) {
    const [low, high] = ranges[type];
    const last = fill.first + fill.step * (elements - 1);
    if (!Number.isInteger(fill.first) || !Number.isInteger(fill.step) || Math.min(fill.first, last) < low || Math.max(fill.first, last) > high) {
      throw new Error(`Counting from ${fill.first} by ${fill.step} leads to numbers that ${type} cannot hold.`);
    }
  }
  if (fill.kind === 'random' && whole) {
    const [low, high] = ranges[type];
    if (!Number.isInteger(fill.low) || !Number.isInteger(fill.high) || fill.low < low || fill.high > high) throw new Error(`The range has numbers that are not of type ${type}.`);
  }
  if (check) return new Uint8Array();
  const bytes = new Uint8Array(size);
  if (fill.kind === 'zeros') return bytes;
  const view = new DataView(bytes.buffer);
  const random = fill.kind === 'random' ? randomNumbers(fill.seed) : null;
  for (let i = 0; i < elements; i += 1) {
    let value = given[i] ?? 0;
    if (fill.kind === 'count') value = fill.first + fill.step * i;
    else if (fill.kind === 'random' && random !== null) {
      value = whole ? fill.low + Math.floor(random() * (fill.high - fill.low + 1)) : fill.low + random() * (fill.high - fill.low);
    }
    put(view, type, i, value);
  }
  return bytes;
}

/** Returns the elements of an output; the bytes are copied if they are not aligned. */
export function numbersOf(bytes: Uint8Array, type: string): Int32Array | Uint32Array | Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const count = Math.floor(aligned.byteLength / 4);
  if (type === 'f16') {
    const halves = new Uint16Array(bytes.slice().buffer);
    return Float32Array.from(halves, halfValue);
  }
  if (type === 'f32') return new Float32Array(aligned.buffer, aligned.byteOffset, count);
  if (type === 'i32') return new Int32Array(aligned.buffer, aligned.byteOffset, count);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, count);
}

export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(''));
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
