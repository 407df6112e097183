// Chooses the device for the next frame. Pure: the time is an argument.
//
// A frame goes to the device that is expected to return its boxes first, by the recent times of each device's model and link. A device that
// would still be busy when the frame arrives gets no frame, so that frames never wait; and a device whose boxes would arrive after those of
// a newer frame of another device gets none either, because they would not be drawn.

/** `late`: a device is late if an answer takes more than `lateFactor` times the expected time and more than `lateLeastMs`. */
export type PlannerBounds = {
  readonly lateFactor: number;
  readonly lateLeastMs: number;
  /** A device that does not answer for this time is considered gone. */
  readonly silentMs: number;
  /** The time after which a device that is too slow is measured again. */
  readonly measureEveryMs: number;
  /** The most frames on their way to a device and in it. */
  readonly inFlightMax: number;
  /** The time allowed for the first frame of a device, which includes making its kernels. */
  readonly firstMs: number;
};
export const plannerBounds: PlannerBounds = { lateFactor: 3, lateLeastMs: 500, silentMs: 10_000, measureEveryMs: 4000, inFlightMax: 2, firstMs: 20_000 };

type InFlight = { readonly frame: number; readonly sent: number; readonly done: number; readonly answer: number };
type Device = {
  /** Expected milliseconds: `work` is the model's time, `link` is the rest of the time from sending to the answer. */
  work: number | null;
  link: number;
  inFlight: InFlight[];
  lastGiven: number;
  /** The last time at which it could have been useful for a frame. */
  lastUseful: number;
};
export type Choice = {
  readonly id: string;
  /** True if the frame only measures the device, because its boxes are expected too late to be drawn. */
  readonly measures: boolean;
};
export type DeviceState = 'new' | 'works' | 'too slow' | 'late';

const weightOfNew = 0.25; // The weight of a new measurement in the average.
const uselessMs = 2000; // The time without use after which a device is called too slow.

export class Planner {
  readonly #bounds: PlannerBounds;
  readonly #devices = new Map<string, Device>();
  /** The average time between offered frames. */
  #period = 33;
  #offered: number | null = null;

  constructor(bounds: PlannerBounds = plannerBounds) {
    this.#bounds = bounds;
  }

  add(id: string, now: number): void {
    this.#devices.set(id, { work: null, link: 0, inFlight: [], lastGiven: -Infinity, lastUseful: now });
  }

  remove(id: string): void {
    this.#devices.delete(id);
  }

  /** Forgets the measurements, for a new model. Frames in devices stay there. */
  forget(now: number): void {
    for (const device of this.#devices.values()) Object.assign(device, { work: null, link: 0, lastUseful: now });
  }

  /** Chooses the device for a new frame. Null skips the frame. `usable` tells which devices may have it. */
  offer(now: number, usable: (id: string) => boolean = () => true): Choice | null {
    if (this.#offered !== null) this.#period += weightOfNew * (Math.min(1000, Math.max(1, now - this.#offered)) - this.#period);
    this.#offered = now;
    let best: { readonly id: string; readonly answer: number } | null = null;
    let measured: string | null = null;
    for (const [id, device] of this.#devices) {
      if (!usable(id) || !this.#isFree(device, now)) continue;
      if (device.work === null) {
        measured ??= id;
        continue;
      }
      const answer = this.#answerAt(device, now);
      if (answer > this.#newerAt(id, now, usable)) {
        if (now - device.lastGiven >= this.#bounds.measureEveryMs) measured ??= id;
        continue;
      }
      device.lastUseful = now;
      if (best === null || answer < best.answer) best = { id, answer };
    }
    // A device is measured only with a frame that no other device can take, so that no frame is lost. A device that is too slow is measured
    // only from time to time.
    if (best !== null) return { id: best.id, measures: false };
    return measured === null ? null : { id: measured, measures: true };
  }

  /** Returns the devices that are free now, for a second device beside the chosen one. */
  free(now: number, usable: (id: string) => boolean): string[] {
    return [...this.#devices].filter(([id, device]) => usable(id) && this.#isFree(device, now)).map(([id]) => id);
  }

  give(id: string, frame: number, now: number): void {
    const device = this.#devices.get(id);
    if (device === undefined) return;
    const answer = device.work === null ? now + this.#bounds.firstMs : this.#answerAt(device, now);
    device.inFlight.push({ frame, sent: now, done: answer, answer });
    device.lastGiven = now;
  }

  /** `work` is the time of the model, as the device reports it. */
  answered(id: string, frame: number, now: number, work: number): void {
    const device = this.#devices.get(id);
    const given = device?.inFlight.find((one) => one.frame === frame);
    if (device === undefined || given === undefined) return;
    device.inFlight = device.inFlight.filter((one) => one !== given);
    const took = now - given.sent;
    // The reported time is clamped, because the device cannot have computed before the frame was sent.
    const computed = Math.min(Math.max(0, work), took);
    const link = took - computed;
    if (device.work === null) {
      device.work = computed;
      device.link = link;
      return;
    }
    device.work += weightOfNew * (computed - device.work);
    device.link += weightOfNew * (link - device.link);
  }

  /** Records that the answer to a frame will not come. */
  failed(id: string, frame: number): void {
    const device = this.#devices.get(id);
    if (device !== undefined) device.inFlight = device.inFlight.filter((one) => one.frame !== frame);
  }

  /** Returns the devices that have not answered for so long that they are considered gone. */
  silent(now: number): string[] {
    return [...this.#devices].filter(([, { inFlight }]) => inFlight.some(({ sent, answer }) => now - sent >= Math.max(this.#bounds.silentMs, this.#bounds.lateFactor * (answer - sent)))).map(([id]) => id);
  }

  state(id: string, now: number): DeviceState {
    const device = this.#devices.get(id);
    if (device === undefined) return 'new';
    if (this.#isLate(device, now)) return 'late';
    if (device.work === null) return 'new';
    return now - device.lastUseful > uselessMs ? 'too slow' : 'works';
  }

  times(id: string): { readonly work: number; readonly link: number } | null {
    const device = this.#devices.get(id);
    return device === undefined || device.work === null ? null : { work: device.work, link: device.link };
  }

  #isLate(device: Device, now: number): boolean {
    const { lateFactor, lateLeastMs } = this.#bounds;
    return device.inFlight.some(({ sent, answer }) => now - sent > Math.max(lateLeastMs, lateFactor * (answer - sent)));
  }

  /** True if a frame that is sent now arrives when the device has no other frame. */
  #isFree(device: Device, now: number): boolean {
    const last = device.inFlight.at(-1);
    if (last === undefined) return true;
    if (device.work === null || this.#isLate(device, now) || device.inFlight.length >= this.#bounds.inFlightMax) return false;
    // An overdue answer means that the device is slower than before.
    return last.answer > now && last.done <= now + device.link;
  }

  #answerAt(device: Device, now: number): number {
    const last = device.inFlight.at(-1);
    return Math.max(now + device.link, last?.done ?? 0) + (device.work ?? 0);
  }

  /** Returns the time at which another device could return the boxes of the next frame that it takes. */
  #newerAt(id: string, now: number, usable: (id: string) => boolean): number {
    let first = Infinity;
    for (const [other, device] of this.#devices) {
      if (other === id || device.work === null || !usable(other) || this.#isLate(device, now)) continue;
      const done = device.inFlight.at(-1)?.done ?? 0;
      // The next frame that the device takes is the first one that comes after it is free.
      const wait = Math.max(1, Math.ceil((done - device.link - now) / this.#period));
      first = Math.min(first, now + wait * this.#period + device.link + device.work);
    }
    return first;
  }
}
