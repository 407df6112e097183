import { describe, expect, it } from 'vitest';
import { formatBytes, formatCredits, formatRate, formatSeconds, plural, shorten } from './format';

describe('numbers as the page writes them', () => {
  it.each([[0, '0'], [1, '0.000001'], [100, '0.0001'], [117_000, '0.1170'], [100_400, '0.1004'], [2_500_000, '2.50'], [12_345_678, '12.35'], [1_234_567_890, '1,235']])(
    'writes %d micro-credits as %s',
    (micro, text) => expect(formatCredits(micro)).toBe(text),
  );
  it.each([[0, '0'], [0.1234, '0.12'], [3.14159, '3.14'], [21_400, '21,400']])('writes the rate %d as %s', (rate, text) =>
    expect(formatRate(rate)).toBe(text),
  );
  it.each([[512, '512 B'], [1536, '1.5 KiB'], [2 ** 30, '1 GiB']])('writes %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
  it.each([[0, '0 ms'], [0.0005, '500 µs'], [0.4, '400 ms'], [2.345, '2.35 s'], [125, '2 min 5 s'], [7260, '2 h 1 min']])(
    'writes %d seconds as %s',
    (seconds, text) => expect(formatSeconds(seconds)).toBe(text),
  );
  it('shortens an address to both its ends', () => {
    expect(shorten('9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin')).toBe('9xQeWv…VFin');
    expect(shorten('short')).toBe('short');
  });
  it('counts', () => {
    expect([plural(1, 'task'), plural(0, 'task'), plural(1200, 'task')]).toEqual(['1 task', '0 tasks', '1,200 tasks']);
  });
});
