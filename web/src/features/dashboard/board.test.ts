// Tests that a snapshot and its deltas give the state that the coordinator means, and that invalid deltas are refused.
import { describe, expect, it } from 'vitest';
import { delta, job, loads, snapshot, worker } from '../../../test/watchSamples';
import { advance, boardOf } from './board';
import { applyMap, taskStates } from './tasks';

const states = (tasks: Uint8Array) => Array.from(tasks, (task) => taskStates[task]?.charAt(0)).join('');

describe('applyMap', () => {
  it('reads runs', () => {
    const tasks = new Uint8Array(6);
    applyMap({ first: [1, 4], count: [2, 1], state: 'lr', packed: '' }, tasks);
    expect(states(tasks)).toBe('wllwrw');
  });

  it('reads four bits each, the earlier task in the lower ones', () => {
    const tasks = new Uint8Array(3);
    applyMap({ first: [], count: [], state: '', packed: btoa(String.fromCharCode(0x31, 0x04)) }, tasks);
    expect(states(tasks)).toBe('lar');
  });

  it.each([
    { first: [2], count: [3], state: 'a', packed: '' },
    { first: [-1], count: [1], state: 'a', packed: '' },
    { first: [0], count: [1], state: 'x', packed: '' },
    { first: [0], count: [], state: 'a', packed: '' },
    { first: [], count: [], state: '', packed: btoa('abc') },
    { first: [], count: [], state: '', packed: btoa('\xff\x0f') },
  ])('refuses %j for three tasks', (map) => {
    expect(() => applyMap(map, new Uint8Array(3))).toThrow();
  });
});

describe('advance', () => {
  const start = () => boardOf(snapshot({ jobs: [job({ tasks: 4 })], workers: [worker(1), worker(2)], loads: loads([1, 0], [2, 1]) }));

  it('moves tasks and keeps the others', () => {
    const board = advance(start(), delta({ sequence: 8, jobs: [job({ tasks: 4, map: { first: [2], count: [2], state: 'a', packed: '' } })] }));
    expect(states(board.jobs[0]?.tasks ?? new Uint8Array())).toBe('wwaa');
  });

  it('adds, changes and drops workers', () => {
    const board = advance(start(), delta({ sequence: 8, left: [1], joined: [worker(3)], loads: loads([2, 5], [3, 7]) }));
    expect([...board.workers.keys()]).toEqual([2, 3]);
    expect(board.workers.get(2)?.held).toBe(5);
    expect(board.workers.get(3)?.held).toBe(7);
    expect(board.workersVersion).toBe(8);
  });

  it('puts new jobs first and forgets those that are gone', () => {
    const newer = advance(start(), delta({ sequence: 8, jobs: [job({ id: 'b', created: 5, tasks: 1 })] }));
    expect(newer.jobs.map((one) => one.head.id)).toEqual(['b', 'a']);
    expect(advance(newer, delta({ sequence: 9, jobs_gone: ['a'] })).jobs.map((one) => one.head.id)).toEqual(['b']);
  });

  it('keeps ten minutes', () => {
    let board = start();
    for (let i = 1; i <= 700; i += 1) board = advance(board, delta({ sequence: 7 + i, second: i }));
    expect(board.history).toHaveLength(600);
    expect(board.history.at(-1)?.time).toBe(700_000);
  });

  it('refuses a message out of order, and a load of an unknown worker', () => {
    expect(() => advance(start(), delta({ sequence: 9 }))).toThrow('Message 8 was expected and message 9 arrived');
    expect(() => advance(start(), delta({ sequence: 8, loads: loads([9, 1]) }))).toThrow('has not described the worker');
  });
});
