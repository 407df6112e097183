// Tests that bytes are those that the shader reads: little-endian, as many as the shape needs, and equal on every machine.
import { describe, expect, it } from 'vitest';
import { bytesOf, fromBase64, halfBits, halfValue, numbersOf, toBase64, type Fill } from './data';

const numbers = (text: string): Fill => ({ kind: 'numbers', text });

describe('bytesOf', () => {
  it('writes numbers little-endian', () => {
    expect([...bytesOf(numbers('1, -2'), 'i32', [2])]).toEqual([1, 0, 0, 0, 254, 255, 255, 255]);
    expect([...bytesOf(numbers('4294967295'), 'u32', [1])]).toEqual([255, 255, 255, 255]);
    expect([...bytesOf(numbers('1'), 'f32', [1])]).toEqual([0, 0, 128, 63]);
    expect([...bytesOf(numbers('1'), 'f16', [1])]).toEqual([0, 60]);
  });

  it('takes any space or comma between, and also infinities and NaN', () => {
    expect([...numbersOf(bytesOf(numbers('nan inf\n-inf;0x10'), 'f32', [4]), 'f32')]).toEqual([NaN, Infinity, -Infinity, 16]);
  });

  it.each([
    [numbers('1'), 'u32', [2], 'The shape needs 2 numbers; 1 is given.'],
    [numbers('one'), 'u32', [1], '“one” is not a number.'],
    [numbers('-1'), 'u32', [1], '-1 is not of type u32.'],
    [numbers('1.5'), 'i32', [1], '1.5 is not of type i32.'],
    [{ kind: 'count', first: 0, step: -1 }, 'u32', [2], 'Counting from 0 by -1 leads to numbers that u32 cannot hold.'],
    [{ kind: 'random', seed: 1, low: 2, high: 1 }, 'f32', [2], 'Random numbers need a seed and a range, low before high.'],
    [{ kind: 'bytes', base64: 'AAAA', name: 'a.bin' }, 'f32', [1], 'a.bin has 3 bytes; the shape needs 4.'],
  ] as const)('refuses %j as %s', (fill, type, shape, message) => {
    expect(() => bytesOf(fill, type, shape)).toThrow(message);
    expect(() => bytesOf(fill, type, shape, { check: true })).toThrow(message);
  });

  it('counts, and draws the same random numbers from the same seed, within their range', () => {
    expect([...numbersOf(bytesOf({ kind: 'count', first: 5, step: -2 }, 'i32', [4]), 'i32')]).toEqual([5, 3, 1, -1]);
    const drawn = numbersOf(bytesOf({ kind: 'random', seed: 9, low: -3, high: 3 }, 'i32', [1000]), 'i32');
    expect(bytesOf({ kind: 'random', seed: 9, low: -3, high: 3 }, 'i32', [1000])).toEqual(new Uint8Array(drawn.buffer));
    expect(new Set(drawn)).toEqual(new Set([-3, -2, -1, 0, 1, 2, 3]));
  });
});

describe('halves', () => {
  // Cases for IEEE 754 binary16: the largest number, the smallest normal and subnormal ones, a tie to even, and an overflow.
  it.each([
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65520, 0x7c00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [Infinity, 0x7c00],
  ])('%d is %i', (value, bits) => expect(halfBits(value)).toBe(bits));

  it('come back as they were, all of them', () => {
    for (let bits = 0; bits < 65536; bits += 1) {
      const value = halfValue(bits);
      if (Number.isNaN(value)) expect(Number.isNaN(halfValue(halfBits(value)))).toBe(true);
      else if (halfBits(value) !== bits) throw new Error(`${bits} became ${halfBits(value)}`);
    }
  });
});

describe('base64', () => {
  it('carries any bytes, also more than fit on a stack', () => {
    const bytes = Uint8Array.from({ length: 200_001 }, (_, i) => (i * 7) % 256);
    expect(fromBase64(toBase64(bytes))).toEqual(bytes);
  });
});
