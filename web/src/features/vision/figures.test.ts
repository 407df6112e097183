import { expect, test } from 'vitest';
import { FrameLog, quantile } from './figures';

test('quantiles are values that were measured', () => {
  expect(quantile([], 0.5)).toBeNull();
  expect(quantile([7], 0.95)).toBe(7);
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2);
  expect(quantile(Array.from({ length: 100 }, (_, i) => i + 1), 0.95)).toBe(95);
});

test('the rate is that of the last frames, and skipped frames are counted beside', () => {
  const log = new FrameLog();
  expect(log.figures()).toEqual({ drawn: 0, skipped: 0, p50: null, p95: null, framesPerSecond: null });

  log.draw({ latency: 900, at: 0 });
  for (let i = 0; i < 120; i += 1) log.draw({ latency: 20, at: 5000 + i * 50 });
  log.skip(3);
  log.skip(2);

  expect(log.figures()).toEqual({ drawn: 121, skipped: 5, p50: 20, p95: 20, framesPerSecond: 20 });
});
