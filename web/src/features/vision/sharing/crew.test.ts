// Tests whose boxes are drawn: those of a helper after it has agreed with this tab, and none of a helper that disagrees.
import { beforeEach, expect, test } from 'vitest';
import type { Box } from '../../../engine/visionMessages';
import { agree, Crew, crewBounds, type Looked, type Node, type Task } from './crew';

const box = (score = 0.8, at = 0, classId = 1): Box => ({ classId, label: 'bus', score, box: [at, 0, at + 100, 100] });
const looked = (boxes: readonly Box[]): Looked => ({ boxes, milliseconds: 10, pictureBytes: 1, answerBytes: 1, linkBytes: 100 });

class FakeNode implements Node {
  takes = true;
  asked: number[] = [];
  closed: string | null = null;
  readonly #waiting: ((answer: Looked | Error) => void)[] = [];
  constructor(
    readonly id: string,
    readonly isLocal: boolean,
  ) {}
  get name() {
    return this.id;
  }
  look({ number }: Task): Promise<Looked> {
    this.asked.push(number);
    return new Promise((resolve, reject) => this.#waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))));
  }
  async answers(answer: Looked | Error): Promise<void> {
    now += 10;
    this.#waiting.shift()?.(answer);
    await new Promise((resolve) => setTimeout(resolve));
  }
  close(why: string): void {
    this.closed = why;
  }
}

let now: number;
let chance: number;
let here: FakeNode;
let helper: FakeNode;
let crew: Crew;
let drawn: [number, string][];
let number: number;

beforeEach(() => {
  now = 0;
  chance = 0.99;
  number = 0;
  drawn = [];
  here = new FakeNode('here', true);
  helper = new FakeNode('helper', false);
  crew = new Crew({ clock: () => now, chance: () => chance });
  crew.add(here);
});

/** Offers a frame and returns the devices that got it. */
function frame(): string[] {
  now += 33;
  const nodes = crew.offer();
  if (nodes.length === 0) return [];
  const mine = (number += 1);
  void crew.look(nodes, { number: mine, frame: {} as VideoFrame, fit: 'letterbox', blueFirst: false }, ({ boxes }) => drawn.push([mine, boxes.map(({ label }) => label).join()]), () => undefined);
  return nodes.map(({ id }) => id);
}

async function proven(): Promise<void> {
  crew.add(helper);
  for (let i = 0; i < crewBounds.agreementsFirst; i += 1) {
    expect(frame()).toEqual(['here', 'helper']);
    await here.answers(looked([box()]));
    await helper.answers(looked([box()]));
  }
}

test("a helper's boxes are drawn after it has found the same as this tab", async () => {
  crew.add(helper);
  expect(frame()).toEqual(['here', 'helper']);
  await helper.answers(looked([box()]));
  expect(drawn).toEqual([]);
  expect(frame()).toEqual([]);
  await here.answers(looked([box()]));
  expect(drawn).toEqual([[1, 'bus']]);
  expect(crew.views().find(({ id }) => id === 'helper')?.state).toBe('checked');

  frame();
  await here.answers(looked([box()]));
  await helper.answers(looked([box()]));

  // This tab and the helper are both free, and the helper was faster.
  expect(frame()).toEqual(['helper']);
  await helper.answers(looked([box()]));
  expect(drawn.at(-1)).toEqual([3, 'bus']);
});

test('a helper that finds something else is never drawn, and is left out', async () => {
  crew.add(helper);
  for (let i = 0; i < crewBounds.disagreementsMax; i += 1) {
    frame();
    await helper.answers(looked([box(0.9, 500)]));
    await here.answers(looked([box()]));
  }
  expect(helper.closed).toMatch(/differ from those that this tab finds/);
  expect(drawn).toHaveLength(crewBounds.disagreementsMax);
  expect(frame()).toEqual(['here']);
  expect(crew.views().map(({ id }) => id)).toEqual(['here']);
});

test('without the check its boxes would be drawn', async () => {
  crew = new Crew({ clock: () => now, chance: () => chance, bounds: { ...crewBounds, agreementsFirst: 0 } });
  crew.add(here);
  crew.add(helper);
  frame();
  expect(frame()).toEqual(['helper']);
  await helper.answers(looked([{ ...box(0.9, 500), label: 'a lie' }]));
  expect(drawn).toEqual([[2, 'a lie']]);
});

test('one that begins to lie later is found by a frame that is looked at twice', async () => {
  await proven();
  chance = 0;
  for (let i = 0; i < crewBounds.disagreementsMax; i += 1) {
    expect(frame()).toEqual(['here', 'helper']);
    await here.answers(looked([box()]));
    await helper.answers(looked([]));
  }
  expect(helper.closed).toMatch(/differ from those/);
});

test("a helper's frame is looked at here, too, now and then", async () => {
  crew.add(helper);
  for (let i = 0; i < crewBounds.agreementsFirst; i += 1) {
    frame();
    await helper.answers(looked([box()]));
    now += 200; // This tab is slow to answer.
    await here.answers(looked([box()]));
  }
  expect(frame()).toEqual(['helper']);
  await helper.answers(looked([box()]));
  chance = 0;
  expect(frame()).toEqual(['helper', 'here']);
});

test('an answer after its helper was left out is not drawn', async () => {
  await proven();
  expect(frame()).toEqual(['here']);
  expect(frame()).toEqual(['helper']);
  const before = drawn.length;
  crew.remove('helper');
  await helper.answers(looked([box()]));
  expect(drawn).toHaveLength(before);
});

test('a helper that fails again and again is left out, and this tab goes on', async () => {
  crew.add(helper);
  for (let i = 0; i < crewBounds.failuresMax; i += 1) {
    expect(frame()).toEqual(['here', 'helper']);
    await helper.answers(new Error('It broke.'));
    await here.answers(looked([box()]));
  }
  expect(helper.closed).toBe('It broke.');
  expect(frame()).toEqual(['here']);
});

test('a helper whose link is full gets nothing', () => {
  helper.takes = false;
  crew.add(helper);
  expect(frame()).toEqual(['here']);
});

test('another model: helpers begin again, and this tab keeps the frame that it has', async () => {
  await proven();
  expect(frame()).toEqual(['here']);
  crew.forget();
  expect(crew.views().map(({ id }) => id)).toEqual(['here']);
  expect(frame()).toEqual([]);
});

test('what two devices find in one picture is the same, but for rounding', () => {
  expect(agree([box(0.8)], [box(0.81, 1)])).toBe(true);
  expect(agree([box(0.8), box(0.26, 300)], [box(0.8)])).toBe(true);
  expect(agree([box(0.8)], [])).toBe(false);
  expect(agree([], [box(0.8)])).toBe(false);
  expect(agree([box(0.8)], [box(0.7)])).toBe(false);
  expect(agree([box(0.8)], [box(0.8, 30)])).toBe(false);
  expect(agree([box(0.8)], [box(0.8, 0, 2)])).toBe(false);
  expect(agree([], [])).toBe(true);
});
