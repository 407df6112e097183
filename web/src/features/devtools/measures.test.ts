// Tests that the panel shows only what was measured.
import { describe, expect, it } from 'vitest';
import { emptyCounters } from '../../../test/samples';
import type { Lane, Span } from '../../engine/gpuCounters';
import { attainable, kernelRows, laneUse, memoryByPurpose, rooflinePoints } from './measures';

const span = (lane: Lane, from: number, to: number): Span => ({ lane, from, to, label: '' });
const roofs = { bytesPerSecond: 100e9, operationsPerSecond: 1e12, what: 'f32' };
const run = { name: 'a', bytes: 1e6, operations: 1e6, seconds: 1e-3, byTimestamps: true };

describe('laneUse', () => {
  it('counts overlapping spans once, and only what lies in the window', () => {
    const use = laneUse({ ...emptyCounters, now: 1000, spans: [span('queue', 300, 600), span('queue', 500, 700), span('queue', -900, -500), span('queue', -100, 50)] }, 1000);

    const queue = use.find(({ lane }) => lane === 'queue');
    expect(queue?.share).toBeCloseTo(0.45);
    expect(queue?.spans).toHaveLength(3);
    expect(use.find(({ lane }) => lane === 'read')?.share).toBe(0);
  });
});

describe('kernelRows', () => {
  it('has no time for what was not timed, and the average of what was', () => {
    const rows = kernelRows({
      ...emptyCounters,
      kernels: [
        { name: 'counted', dispatches: 9, timedDispatches: 0, seconds: 0 },
        { name: 'timed', dispatches: 4, timedDispatches: 2, seconds: 0.5 },
      ],
    });

    expect(rows).toEqual([
      { name: 'timed', dispatches: 4, seconds: 0.5, secondsEach: 0.25 },
      { name: 'counted', dispatches: 9, seconds: null, secondsEach: null },
    ]);
  });
});

it('buffers stand with their purpose', () => {
  const rows = memoryByPurpose({
    ...emptyCounters,
    buffers: [
      { label: 'binding 0', usage: 0x8 | 0x80, count: 1, bytes: 64 },
      { label: 'output read back', usage: 0x1 | 0x8, count: 1, bytes: 32 },
    ],
    purposes: [
      { name: 'read back', count: 1, bytes: 32, bytesPeak: 32 },
      { name: 'storage', count: 1, bytes: 64, bytesPeak: 128 },
    ],
  });

  expect(rows.map(({ name, labels }) => [name, labels.map((one) => one.label)])).toEqual([
    ['storage', ['binding 0']],
    ['read back', ['output read back']],
  ]);
});

describe('the roofline', () => {
  it('is the slope of memory up to the ridge, and flat behind it', () => {
    expect(attainable(roofs, 1)).toBe(100e9);
    expect(attainable(roofs, 10)).toBe(1e12);
    expect(attainable(roofs, 1000)).toBe(1e12);
  });

  it('places runs whose operations are known, and leaves out the others', () => {
    const points = rooflinePoints([run, { ...run, operations: null }, { ...run, seconds: 0 }], roofs);

    expect(points).toEqual([{ run, intensity: 1, rate: 1e9, share: 0.01 }]);
  });
});
