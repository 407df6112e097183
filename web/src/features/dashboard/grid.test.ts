// Tests that every task has a place inside the rectangle, and that the place gives the task back.
import { describe, expect, it } from 'vitest';
import { layoutOf, taskAt } from './grid';

describe('layoutOf', () => {
  it.each([
    [1, 800, 300], [4, 300, 300], [64, 824, 320], [1000, 350, 256], [5000, 824, 320], [100_000, 824, 320], [100_000, 350, 256], [400_000, 824, 320],
  ])('fits %i tasks into %i by %i', (tasks, width, height) => {
    const layout = layoutOf(tasks, width, height);

    expect(layout.columns * layout.rows).toBeGreaterThanOrEqual(tasks);
    if (tasks <= width * height) {
      expect(layout.columns * layout.cell).toBeLessThanOrEqual(width + 1e-6);
      expect(layout.rows * layout.cell).toBeLessThanOrEqual(height + 1e-6);
    }
    const lastTask = tasks - 1;
    const x = ((lastTask % layout.columns) + 0.5) * layout.cell;
    const y = (Math.floor(lastTask / layout.columns) + 0.5) * layout.cell;
    expect(taskAt(layout, tasks, x, y)).toBe(lastTask);
  });

  it('finds no task outside', () => {
    const layout = layoutOf(10, 100, 100);
    expect(taskAt(layout, 10, -1, 5)).toBeNull();
    expect(taskAt(layout, 10, 99, 99)).toBeNull();
  });
});
