// The devices that process the frames of one camera: this tab's own model, and helpers. A helper's boxes are drawn after it has found the
// same boxes as this tab. From time to time the helper is checked again; a helper that finds other boxes is excluded.
import type { Box, FitKind } from '../../../engine/visionMessages';
import { Planner, type DeviceState } from './planner';
import type { Path } from './sealing';

export type Task = { readonly number: number; readonly frame: VideoFrame; readonly fit: FitKind; readonly blueFirst: boolean };
export type Looked = {
  readonly boxes: readonly Box[];
  /** The time of the model. */
  readonly milliseconds: number;
  /**
   * Bytes of the picture for the model, bytes read back from the GPU (0 for another device), and bytes over the link in both directions.
   */
  readonly pictureBytes: number;
  readonly answerBytes: number;
  readonly linkBytes: number;
};

export interface Node {
  readonly id: string;
  readonly name: string;
  readonly isLocal: boolean;
  /** How its frames travel; missing for this tab. */
  readonly path?: Path;
  /** True if a frame can be sent to the device at once. */
  readonly takes: boolean;
  look(task: Task): Promise<Looked>;
  /** Closes the line to the device. */
  close(why: string): void;
}

export type NodeView = {
  readonly id: string;
  readonly name: string;
  readonly isLocal: boolean;
  readonly path: Path | null;
  readonly state: DeviceState | 'checked';
  /** The share of recent frames that the device answered. */
  readonly share: number;
  readonly frames: number;
  readonly bytes: number;
  readonly work: number | null;
  readonly link: number | null;
};

export type CrewBounds = {
  /** The number of frames in which a helper must agree with this tab before its boxes are drawn. */
  readonly agreementsFirst: number;
  /** One of this many frames is also processed by a second device. */
  readonly checkEvery: number;
  readonly disagreementsMax: number;
  /** The number of frames in a row for which a helper may give no boxes. */
  readonly failuresMax: number;
};
export const crewBounds: CrewBounds = { agreementsFirst: 2, checkEvery: 12, disagreementsMax: 2, failuresMax: 3 };

type Member = { readonly node: Node; toAgree: number; disagreements: number; failures: number; frames: number; bytes: number; recent: number[] };
type Answer = { readonly member: Member; readonly boxes: readonly Box[] };

const recentMs = 5000;
const surely = 0.3; // Detectors report boxes from 0.25 on, and a box near this limit may be missing because of a rounding difference.
const scoreNear = 0.05;
const overlapNear = 0.8;

function overlap(a: Box['box'], b: Box['box']): number {
  const area = (box: Box['box']) => Math.max(0, box[2] - box[0]) * Math.max(0, box[3] - box[1]);
  const both = area([Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])]);
  const either = area(a) + area(b) - both;
  return either > 0 ? both / either : 1;
}

/** True if two devices can have computed these boxes from the same picture. */
export function agree(one: readonly Box[], other: readonly Box[]): boolean {
  const known = (box: Box, among: readonly Box[]) =>
    among.some((near) => near.classId === box.classId && Math.abs(near.score - box.score) <= scoreNear && overlap(near.box, box.box) >= overlapNear);
  const sure = (boxes: readonly Box[]) => boxes.filter(({ score }) => score >= surely);
  return sure(one).every((box) => known(box, other)) && sure(other).every((box) => known(box, one));
}

export type CrewOptions = {
  readonly clock?: () => number;
  /** Returns random numbers below 1, which choose the frames that are processed twice. */
  readonly chance?: () => number;
  readonly bounds?: CrewBounds;
};

export class Crew {
  readonly #clock: () => number;
  readonly #chance: () => number;
  readonly #bounds: CrewBounds;
  readonly #planner = new Planner();
  readonly #members = new Map<string, Member>();

  constructor({ clock = () => performance.now(), chance = Math.random, bounds = crewBounds }: CrewOptions = {}) {
    this.#clock = clock;
    this.#chance = chance;
    this.#bounds = bounds;
  }

  add(node: Node): void {
    this.#members.set(node.id, { node, toAgree: node.isLocal ? 0 : this.#bounds.agreementsFirst, disagreements: 0, failures: 0, frames: 0, bytes: 0, recent: [] });
    this.#planner.add(node.id, this.#clock());
  }

  remove(id: string): void {
    this.#members.delete(id);
    this.#planner.remove(id);
  }

  /** Forgets the helpers of the previous model and this tab's measurements. */
  forget(): void {
    for (const { node } of [...this.#members.values()]) if (!node.isLocal) this.remove(node.id);
    this.#planner.forget(this.#clock());
  }

  /** Chooses the devices for the next frame; the first is the one that is expected to answer first. An empty list skips the frame. */
  offer(): Node[] {
    const now = this.#clock();
    for (const id of this.#planner.silent(now)) {
      const member = this.#members.get(id);
      if (member === undefined || member.node.isLocal) continue;
      this.remove(id);
      member.node.close('The device no longer answers.');
    }
    const choice = this.#planner.offer(now, (id) => this.#can(id, ({ toAgree }) => toAgree === 0));
    const first = choice === null ? undefined : this.#members.get(choice.id);
    if (first === undefined) return [];
    const second = first.node.isLocal ? this.#helperToCheck(now) : this.#here(now);
    return second === null ? [first.node] : [first.node, second.node];
  }

  /**
   * Gives a frame to the devices that offer() chose. `seen` is called for each of them with the boxes that may be drawn; `failed` is called
   * for an error of this tab's own model. Resolves when all of them have answered.
   */
  async look(nodes: readonly Node[], task: Task, seen: (looked: Looked, node: Node) => void, failed: (error: unknown) => void): Promise<void> {
    const answers: Answer[] = [];
    await Promise.all(
      nodes.map(async (node) => {
        const member = this.#members.get(node.id);
        if (member?.node !== node) return;
        this.#planner.give(node.id, task.number, this.#clock());
        try {
          const looked = await node.look(task);
          const now = this.#clock();
          if (this.#members.get(node.id) !== member) return;
          // For this tab the whole time counts as the model's time, because this tab processes one frame at a time and has no link.
          this.#planner.answered(node.id, task.number, now, node.isLocal ? Infinity : looked.milliseconds);
          member.failures = 0;
          member.frames += 1;
          member.bytes += looked.linkBytes;
          member.recent = [...member.recent.filter((at) => now - at < recentMs), now];
          answers.push({ member, boxes: looked.boxes });
          if (member.toAgree === 0) seen(looked, node);
        } catch (error) {
          if (this.#members.get(node.id) !== member) return;
          this.#planner.failed(node.id, task.number);
          if (node.isLocal) failed(error);
          else if ((member.failures += 1) >= this.#bounds.failuresMax) this.#leave(member, error instanceof Error ? error.message : String(error));
        }
      }),
    );
    this.#compare(answers);
  }

  /** Returns the devices for the page. */
  views(): NodeView[] {
    const now = this.#clock();
    const recent = (member: Member) => member.recent.filter((at) => now - at < recentMs).length;
    const all = [...this.#members.values()];
    const sum = all.reduce((total, member) => total + recent(member), 0);
    return all.map((member) => {
      const { id, name, isLocal } = member.node;
      const state = this.#planner.state(id, now);
      const times = this.#planner.times(id);
      return {
        id,
        name,
        isLocal,
        path: member.node.path ?? null,
        state: member.toAgree > 0 && state !== 'late' ? 'checked' : state,
        share: sum === 0 ? 0 : recent(member) / sum,
        frames: member.frames,
        bytes: member.bytes,
        work: times?.work ?? null,
        link: times?.link ?? null,
      };
    });
  }

  #can(id: string, also: (member: Member) => boolean): boolean {
    const member = this.#members.get(id);
    return member !== undefined && member.node.takes && also(member);
  }

  /** Returns a helper that is still on probation or, from time to time, one that works. */
  #helperToCheck(now: number): Member | null {
    const free = this.#planner.free(now, (id) => this.#can(id, ({ node }) => !node.isLocal)).map((id) => this.#members.get(id));
    const isNew = free.find((member) => member !== undefined && member.toAgree > 0);
    if (isNew !== undefined) return isNew;
    if (free.length === 0 || this.#chance() * this.#bounds.checkEvery >= 1) return null;
    return free[Math.min(free.length - 1, Math.floor(this.#chance() * free.length))] ?? null;
  }

  #here(now: number): Member | null {
    if (this.#chance() * this.#bounds.checkEvery >= 1) return null;
    const [id] = this.#planner.free(now, (one) => this.#can(one, ({ node }) => node.isLocal));
    return id === undefined ? null : (this.#members.get(id) ?? null);
  }

  #compare(answers: readonly Answer[]): void {
    const own = answers.find(({ member }) => member.node.isLocal);
    if (own === undefined) return;
    for (const { member, boxes } of answers) {
      if (member === own.member || this.#members.get(member.node.id) !== member) continue;
      if (agree(boxes, own.boxes)) {
        member.toAgree = Math.max(0, member.toAgree - 1);
        continue;
      }
      member.toAgree = this.#bounds.agreementsFirst;
      member.disagreements += 1;
      if (member.disagreements >= this.#bounds.disagreementsMax) this.#leave(member, 'The device’s boxes differ from those that this tab finds in the same pictures.');
    }
  }

  #leave(member: Member, why: string): void {
    this.remove(member.node.id);
    member.node.close(why);
  }
}
