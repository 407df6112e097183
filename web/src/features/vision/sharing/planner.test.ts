// Tests which device gets the next frame, with a simulated clock, devices that take known times, and a camera of 30 frames a second.
import { expect, test } from 'vitest';
import { Planner, plannerBounds } from './planner';

type Model = { work: number; link: number; answers?: boolean };
type Event = { readonly at: number; readonly run: () => void };

/** Simulates devices whose models and links take given times, and a film; it records the frames that are drawn. */
class Simulation {
  now = 0;
  readonly planner = new Planner();
  readonly drawn: { readonly frame: number; readonly id: string; readonly at: number; readonly latency: number }[] = [];
  readonly given = new Map<string, number>();
  /** The number of frames that arrived while their device had another frame. */
  queued = 0;
  stale = 0;
  skipped = 0;
  readonly models: Record<string, Model>;
  readonly #busyUntil = new Map<string, number>();
  #events: Event[] = [];
  #newest = -1;

  constructor(models: Record<string, Model>) {
    this.models = models;
    for (const id of Object.keys(models)) this.planner.add(id, 0);
  }

  run(milliseconds: number, period = 1000 / 30): void {
    const end = this.now + milliseconds;
    for (let at = this.now; at < end; at += period) {
      this.#pass(at);
      this.#frame(Math.round(at / period));
    }
    this.#pass(end);
  }

  drawnBy = (id: string, from = 0) => this.drawn.filter((one) => one.id === id && one.at >= from).length;

  #pass(to: number): void {
    for (;;) {
      this.#events.sort((a, b) => a.at - b.at);
      const next = this.#events[0];
      if (next === undefined || next.at > to) break;
      this.#events.shift();
      this.now = next.at;
      next.run();
    }
    this.now = to;
  }

  #frame(frame: number): void {
    for (const id of this.planner.silent(this.now)) this.planner.remove(id);
    const choice = this.planner.offer(this.now);
    if (choice === null) return void (this.skipped += 1);
    const { id } = choice;
    const model = this.models[id];
    if (model === undefined) throw new Error(id);
    this.planner.give(id, frame, this.now);
    this.given.set(id, (this.given.get(id) ?? 0) + 1);
    if (model.answers === false) return;
    const taken = this.now;
    const arrives = this.now + model.link / 2;
    const busy = this.#busyUntil.get(id) ?? 0;
    if (busy > arrives + 1e-6) this.queued += 1;
    const done = Math.max(arrives, busy) + model.work;
    this.#busyUntil.set(id, done);
    this.#events.push({
      at: done + model.link / 2,
      run: () => {
        this.planner.answered(id, frame, this.now, model.work);
        if (frame <= this.#newest) return void (this.stale += 1);
        this.#newest = frame;
        this.drawn.push({ frame, id, at: this.now, latency: this.now - taken });
      },
    });
  }
}

const rate = (simulation: Simulation, from: number, to: number) => (1000 * simulation.drawn.filter(({ at }) => at >= from && at < to).length) / (to - from);

test('one device gets a frame as soon as it has none, and no frame waits', () => {
  const simulation = new Simulation({ here: { work: 100, link: 0 } });
  simulation.run(3000);
  expect(simulation.queued).toBe(0);
  expect(rate(simulation, 1000, 3000)).toBeGreaterThan(7);
  expect(simulation.skipped).toBeGreaterThan(50);
});

test('three equal devices answer almost three times as many frames, in order, and each has its share', () => {
  const alone = new Simulation({ here: { work: 100, link: 0 } });
  const three = new Simulation({ here: { work: 100, link: 0 }, a: { work: 100, link: 8 }, b: { work: 100, link: 8 } });
  alone.run(10_000);
  three.run(10_000);
  expect(rate(three, 2000, 10_000)).toBeGreaterThan(2.7 * rate(alone, 2000, 10_000));
  expect(three.queued).toBe(0);
  for (const id of ['here', 'a', 'b']) expect(three.drawnBy(id, 2000)).toBeGreaterThan(50);
  expect(Math.max(...three.drawn.slice(20).map(({ latency }) => latency))).toBeLessThan(1.1 * 108);
});

test('a frame goes to the device that returns its boxes first', () => {
  const simulation = new Simulation({ here: { work: 200, link: 0 }, fast: { work: 10, link: 10 } });
  simulation.run(5000);
  expect(simulation.drawnBy('fast', 1000)).toBeGreaterThan(100);
  expect(simulation.drawnBy('here', 1000)).toBe(0);
});

test('a slow link counts as a slow device does', () => {
  const simulation = new Simulation({ here: { work: 60, link: 0 }, far: { work: 10, link: 400 } });
  simulation.run(5000);
  expect(simulation.drawnBy('far')).toBeLessThanOrEqual(1);
  expect(simulation.planner.state('far', simulation.now)).toBe('too slow');
  expect(simulation.planner.times('far')?.link).toBeGreaterThan(300);
});

test('a link carries a frame while another one is computed, and none waits in the device', () => {
  const simulation = new Simulation({ a: { work: 100, link: 80 } });
  simulation.run(5000);
  expect(simulation.queued).toBe(0);
  // Each frame takes 100 ms of computing and 80 ms of sending; in sequence these would take 180 ms.
  expect(rate(simulation, 1000, 5000)).toBeGreaterThan(7);
});

test('a device that becomes slower gets no second frame while it has one', () => {
  const simulation = new Simulation({ here: { work: 20, link: 0 } });
  simulation.run(2000);
  simulation.models['here'] = { work: 300, link: 0 };
  simulation.run(3000);
  expect(simulation.queued).toBe(0);
});

test('a device that is too weak is left out but measured now and then, and takes part once it has become faster', () => {
  const simulation = new Simulation({ here: { work: 100, link: 0 }, weak: { work: 900, link: 10 } });
  simulation.run(20_000);
  expect(simulation.planner.state('weak', simulation.now)).toBe('too slow');
  const given = simulation.given.get('weak') ?? 0;
  expect(given).toBeGreaterThan(2);
  expect(given).toBeLessThan(20_000 / plannerBounds.measureEveryMs + 2);
  expect(simulation.drawnBy('weak', 2000)).toBe(0);

  simulation.models['weak'] = { work: 60, link: 10 };
  simulation.run(60_000);

  expect(simulation.planner.state('weak', simulation.now)).toBe('works');
  expect(simulation.drawnBy('weak')).toBeGreaterThan(100);
});

test('a device that falls silent gets no more frames, the others go on at once, and it is taken for gone', () => {
  const simulation = new Simulation({ here: { work: 100, link: 0 }, a: { work: 100, link: 8 } });
  simulation.run(3000);
  simulation.models['a'] = { work: 100, link: 8, answers: false };
  const given = simulation.given.get('a') ?? 0;
  simulation.run(1000);

  expect((simulation.given.get('a') ?? 0) - given).toBeLessThanOrEqual(plannerBounds.inFlightMax);
  expect(simulation.planner.state('a', simulation.now)).toBe('late');
  const times = simulation.drawn.map(({ at }) => at);
  expect(Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? 0)))).toBeLessThan(1000);
  expect(rate(simulation, 3200, 4000)).toBeGreaterThan(6);

  simulation.run(plannerBounds.silentMs);
  expect(simulation.planner.times('a')).toBeNull();
});

test('all leave: this tab goes on alone', () => {
  const simulation = new Simulation({ here: { work: 100, link: 0 }, a: { work: 100, link: 8 }, b: { work: 50, link: 8 } });
  simulation.run(2000);
  simulation.planner.remove('a');
  simulation.planner.remove('b');
  simulation.run(2000);
  expect(rate(simulation, 2500, 4000)).toBeGreaterThan(7);
  expect(simulation.drawnBy('here', 2500)).toBeGreaterThan(9);
});

test('a device that says it computed in no time, or for an hour, is believed within the time that passed', () => {
  for (const claim of [0, -5, 3.6e6]) {
    const planner = new Planner();
    planner.add('liar', 0);
    planner.give('liar', 1, 0);
    planner.answered('liar', 1, 100, claim);
    const times = planner.times('liar');
    expect((times?.work ?? 0) + (times?.link ?? 0)).toBe(100);
    expect(times?.work).toBeGreaterThanOrEqual(0);
  }
});

test('answers that nothing was asked for change nothing', () => {
  const planner = new Planner();
  planner.add('a', 0);
  planner.answered('a', 7, 10, 1);
  planner.answered('none', 7, 10, 1);
  planner.failed('a', 7);
  expect(planner.times('a')).toBeNull();
});

test('only what is usable is chosen', () => {
  const planner = new Planner();
  planner.add('a', 0);
  expect(planner.offer(0, () => false)).toBeNull();
  expect(planner.offer(33, (id) => id === 'a')?.id).toBe('a');
});
