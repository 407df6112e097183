// Tests that the distance of a worker follows its round trip, whichever workers join and leave.
import { describe, expect, it } from 'vitest';
import { columns, distanceOf, Topology } from './topology';

const rows = (...workers: readonly (readonly [number, number, number])[]) => Float64Array.from(workers.flatMap(([number, ms, load]) => [number, ms, load, 0]));
const settle = (topology: Topology) => {
  for (let i = 0; i < 2000 && !topology.settled; i += 1) topology.step();
};

describe('Topology', () => {
  it('settles with every worker near its distance', () => {
    const topology = new Topology();
    topology.set(rows([1, 1, 0], [2, 1, 0.5], [3, 100, 1], [4, 100, 0], [5, -1, 0]));
    settle(topology);

    expect(topology.settled).toBe(true);
    for (const [number, ms] of [[1, 1], [2, 1], [3, 100], [4, 100]] as const) {
      const node = topology.node(number);
      expect(Math.hypot(node?.x ?? 0, node?.y ?? 0) / distanceOf(ms)).toBeGreaterThan(0.75);
      expect(Math.hypot(node?.x ?? 0, node?.y ?? 0) / distanceOf(ms)).toBeLessThan(1.3);
    }
  });

  it('stays still when only loads change, and moves when a worker comes or goes', () => {
    const topology = new Topology();
    topology.set(rows([1, 5, 0], [2, 5, 0]));
    settle(topology);

    topology.set(rows([1, 5.5, 1], [2, 5, 0.2]));
    expect(topology.settled).toBe(true);
    expect(topology.node(1)?.load).toBe(1);
    topology.set(rows([1, 5, 1]));
    expect(topology.settled).toBe(false);
    expect(topology.size).toBe(1);
    expect(topology.node(2)).toBeUndefined();
  });

  it('finds who is under a finger', () => {
    const topology = new Topology();
    topology.set(rows([1, 5, 0]));
    settle(topology);
    const view = { width: 400, height: 400, ratio: 1 };
    const found = new Set<number | null>();
    for (let x = 0; x < 400; x += 8) for (let y = 0; y < 400; y += 8) found.add(topology.nearest(view, x, y));
    expect(found).toEqual(new Set([null, 1]));
    expect(columns).toBe(4);
  });
});
