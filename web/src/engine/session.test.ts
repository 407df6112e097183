// Tests reduce() and rates(), which compute every number that the page shows.
import { describe, expect, it } from 'vitest';
import type { FromWorker, TaskName } from './messages';
import { emptySession, rates, recordsMax, reduce, started, type Session } from './session';

const task = (index: number): TaskName => ({ job: 'j', index, attempt: 0 });
const done = (index: number): FromWorker => ({ type: 'task-done', task: task(index), wallSeconds: 1, gpuSeconds: 0.5, name: 'mandelbrot', bytes: 1000, operations: 2000 });
const paid = (index: number, amount: number): FromWorker => ({ type: 'verdict', task: task(index), accepted: true, paid: amount, balance: 100 + amount, reason: '' });

function play(session: Session, ...events: readonly (readonly [number, FromWorker])[]): Session {
  return events.reduce((now, [at, message]) => reduce(now, message, at), session);
}
const running = (at: number) => play(started(emptySession, at), [at, { type: 'connecting' }], [at, { type: 'connected', balance: 100 }]);

describe('reduce', () => {
  it('follows a task from its start to its pay', () => {
    const session = play(running(0), [1000, { type: 'task-started', task: task(3) }], [1500, done(3)], [1700, paid(3, 25)]);

    expect(session).toMatchObject({ done: 1, accepted: 1, refused: 0, earned: 25, balance: 125 });
    expect(session.tasks).toEqual([{ ...task(3), state: 'accepted', startedAt: 1000, endedAt: 1500, name: 'mandelbrot', gpuSeconds: 0.5, bytes: 1000, operations: 2000, paid: 25, note: '' }]);
  });

  it('keeps the reason of a refusal and pays nothing for it', () => {
    const session = play(
      running(0),
      [1, { type: 'task-started', task: task(0) }],
      [2, done(0)],
      [3, { type: 'verdict', task: task(0), accepted: false, paid: 0, balance: 100, reason: 'replicas differ' }],
    );

    expect(session).toMatchObject({ done: 1, accepted: 0, refused: 1, earned: 0 });
    expect(session.tasks[0]).toMatchObject({ state: 'refused', note: 'replicas differ' });
  });

  it('counts a verdict for a task that it no longer remembers', () => {
    expect(play(running(0), [1, paid(9, 5)])).toMatchObject({ accepted: 1, earned: 5, tasks: [] });
  });

  it('drops what ran on a lost device and says so until there is a device again', () => {
    const lost = play(running(0), [1, { type: 'task-started', task: task(0) }], [2, { type: 'device-lost', message: 'Reset.' }]);
    const device = { kind: 'gpu', vendor: 'v', architecture: '', description: '', backend: 'webgpu', features: [], memoryBytes: 1, copyGbPerS: 1, f32GflopPerS: 1 } as const;

    expect(lost).toMatchObject({ deviceLost: 'Reset.', tasks: [] });
    expect(play(lost, [3, { type: 'device', device }]).deviceLost).toBeNull();
  });

  it('says when the next try to connect is due', () => {
    expect(play(running(0), [500, { type: 'disconnected', reason: 'The connection broke.', retryMs: 4000 }]).connection).toEqual({
      state: 'waiting',
      reason: 'The connection broke.',
      retryMs: 4000,
      retryAt: 4500,
    });
  });

  it('forgets a task that was given back', () => {
    const session = play(running(0), [1, { type: 'task-started', task: task(0) }], [2, { type: 'task-cancelled', task: task(0), reason: 'Stopping.' }]);

    expect(session).toMatchObject({ done: 0, failed: 0, tasks: [] });
  });

  it('remembers a bounded number of tasks', () => {
    let session = running(0);
    for (let i = 0; i < recordsMax + 50; i += 1) session = reduce(session, { type: 'task-started', task: task(i) }, i);

    expect(session.tasks).toHaveLength(recordsMax);
    expect(session.tasks[0]?.index).toBe(recordsMax + 49);
  });

  it('keeps wallet and balance over a new start, and resets its counters', () => {
    const before = play(running(0), [0, { type: 'wallet', address: 'A' }], [1, paid(0, 5)], [2, { type: 'stopped' }]);

    expect(started(before, 10)).toMatchObject({ address: 'A', balance: 105, earned: 0, accepted: 0, phase: 'loading', startedAt: 10 });
  });
});

describe('rates', () => {
  it('are of the last minute, and of less after a fresh start', () => {
    const session = play(running(0), [0, { type: 'task-started', task: task(0) }], [5000, done(0)], [5000, { type: 'task-started', task: task(1) }], [10_000, done(1)]);

    expect(rates(session, 20_000)).toEqual({ tasksPerMinute: 6, busyShare: 0.5, operationsPerSecond: 200, bytesPerSecond: 100 });
    expect(rates(session, 69_000)).toMatchObject({ tasksPerMinute: 1 });
    expect(rates(session, 200_000)).toEqual({ tasksPerMinute: 0, busyShare: 0, operationsPerSecond: 0, bytesPerSecond: 0 });
  });

  it('count a task under way as busy but not as done', () => {
    const session = play(running(0), [0, { type: 'task-started', task: task(0) }]);

    expect(rates(session, 10_000)).toMatchObject({ tasksPerMinute: 0, busyShare: 1 });
  });
});
