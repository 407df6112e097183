// Which device gets the next frame. Pure: the time is given to it.
//
// The frame goes to the device that is expected to return its boxes first, from what each device took lately for its model and its link.
// A device that would still be busy when the frame arrives there gets none, so no frame waits anywhere; and a device whose boxes would come
// after those of a newer frame of another device gets none either, since they would not be drawn.

/** `late`: a device is given up when an answer takes this many times what it was expected to, and at least so long. */
export type PlannerBounds = {
  readonly lateFactor: number;
  readonly lateLeastMs: number;
  /** A device without a word for so long is gone. */
  readonly silentMs: number;
  /** How often a device that is too slow is measured again. */
  readonly measureEveryMs: number;
  /** Frames on their way to and in a device. */
  readonly inFlightMax: number;
  /** What the first frame of a device may take: kernels are made for it. */
  readonly firstMs: number;
};
export const plannerBounds: PlannerBounds = { lateFactor: 3, lateLeastMs: 500, silentMs: 10_000, measureEveryMs: 4000, inFlightMax: 2, firstMs: 20_000 };

type InFlight = { readonly frame: number; readonly sent: number; readonly done: number; readonly answer: number };
type Device = {
  /** Expected, in milliseconds: the model's time, and what else passes from sending to the answer. */
  work: number | null;
  link: number;
  inFlight: InFlight[];
  lastGiven: number;
  /** When it was last of use to any frame. */
  lastUseful: number;
};
export type Choice = {
  readonly id: string;
  /** The frame measures the device: its boxes come too late to be drawn, as far as is known. */
  readonly measures: boolean;
};
export type DeviceState = 'new' | 'works' | 'too slow' | 'late';

const weightOfNew = 0.25; // A measurement's, against those before.
const uselessMs = 2000; // After which a device without frames is called too slow.

export class Planner {
  readonly #bounds: PlannerBounds;
  readonly #devices = new Map<string, Device>();
  /** Between frames that are offered. */
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

  /** Another model: nothing that was measured counts. What is in a device is in it still. */
  forget(now: number): void {
    for (const device of this.#devices.values()) Object.assign(device, { work: null, link: 0, lastUseful: now });
  }

  /** A frame comes. Null: it is skipped. `usable`: which devices may have it. */
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
    // What is not known is measured where no frame is lost by it: with one that no other device could have now, or else from time to time.
    if (best !== null) return { id: best.id, measures: false };
    return measured === null ? null : { id: measured, measures: true };
  }

  /** Devices that are free now, beside the one that was chosen. */
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

  /** `work`: what the device says that its model took. */
  answered(id: string, frame: number, now: number, work: number): void {
    const device = this.#devices.get(id);
    const given = device?.inFlight.find((one) => one.frame === frame);
    if (device === undefined || given === undefined) return;
    device.inFlight = device.inFlight.filter((one) => one !== given);
    const took = now - given.sent;
    // It cannot have computed before the frame was sent.
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

  /** An answer that will not come. */
  failed(id: string, frame: number): void {
    const device = this.#devices.get(id);
    if (device !== undefined) device.inFlight = device.inFlight.filter((one) => one.frame !== frame);
  }

  /** Devices that have said nothing for so long that they are taken for gone. */
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

  /** Whether a frame that is sent now finds the device without another. */
  #isFree(device: Device, now: number): boolean {
    const last = device.inFlight.at(-1);
    if (last === undefined) return true;
    if (device.work === null || this.#isLate(device, now) || device.inFlight.length >= this.#bounds.inFlightMax) return false;
    // An answer that is overdue: the device is slower than it was.
    return last.answer > now && last.done <= now + device.link;
  }

  #answerAt(device: Device, now: number): number {
    const last = device.inFlight.at(-1);
    return Math.max(now + device.link, last?.done ?? 0) + (device.work ?? 0);
  }

  /** When the boxes of the next frame could be there that another device takes. */
  #newerAt(id: string, now: number, usable: (id: string) => boolean): number {
    let first = Infinity;
    for (const [other, device] of this.#devices) {
      if (other === id || device.work === null || !usable(other) || this.#isLate(device, now)) continue;
      const done = device.inFlight.at(-1)?.done ?? 0;
      // The frame that it takes is one that comes: the next, or the first after it is free.
      const wait = Math.max(1, Math.ceil((done - device.link - now) / this.#period));
      first = Math.min(first, now + wait * this.#period + device.link + device.work);
    }
    return first;
  }
}
