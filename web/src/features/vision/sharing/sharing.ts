// The camera's side of a session: the door that lets helpers join, and the helpers.
import { Sight } from '../../../engine/sight';
import type { Detector } from '../../../engine/visionMessages';
import type { Crew } from './crew';
import { linkOf } from './invitation';
import { Door, MeetingError } from './meeting';
import { RemoteNode, type SharedModel } from './remoteNode';
import { wireBounds } from './wire';

export type SharingState = {
  /** The link of the session; null if the camera is not shared. */
  readonly link: string | null;
  readonly opening: boolean;
  readonly reachable: boolean;
  readonly trouble: string | null;
  /** The number of helpers that have joined but have no model yet. */
  readonly waiting: number;
  /** The reasons why helpers left, the latest last. */
  readonly left: readonly string[];
};

const leftMax = 4;
export const notShared: SharingState = { link: null, opening: false, reachable: false, trouble: null, waiting: 0, left: [] };

export class Sharing {
  readonly #crew: Crew;
  readonly #changed: () => void;
  readonly #fitter: Sight;
  #state = notShared;
  #door: Door | null = null;
  #nodes = new Set<RemoteNode>();
  #model: SharedModel | null = null;
  #models = 0;
  #ids = 0;

  constructor(crew: Crew, changed: () => void, fitter: Sight = new Sight()) {
    this.#crew = crew;
    this.#changed = changed;
    this.#fitter = fitter;
  }

  get state(): SharingState {
    return this.#state;
  }

  /** Sets the model that helpers use from now on. */
  setModel(name: string, bytes: Uint8Array<ArrayBuffer>, detector: Detector): void {
    this.#crew.forget();
    this.#model = { number: (this.#models += 1), name, bytes, detector };
    for (const node of this.#nodes) node.give(this.#model);
    this.#tell({});
  }

  async open(page: string): Promise<void> {
    if (this.#door !== null || this.#state.opening) return;
    const trouble = this.#refusal();
    this.#tell({ trouble, opening: trouble === null });
    if (trouble !== null) return;
    try {
      const door = await Door.open({ joined: (line) => this.#add(line), reachable: (reachable) => this.#tell({ reachable }) });
      if (!this.#state.opening) return door.close();
      this.#door = door;
      this.#tell({ link: linkOf(door.invitation, page), opening: false, left: [] });
    } catch (error) {
      this.#tell({ opening: false, trouble: error instanceof MeetingError ? error.message : `This browser cannot share the camera: ${String(error)}` });
    }
  }

  /** Ends the session: helpers are disconnected, and the link stops working. */
  close(): void {
    const door = this.#door;
    this.#door = null;
    door?.close();
    for (const node of this.#nodes) node.close('The camera is no longer shared.');
    this.#fitter.close();
    this.#tell({ link: null, opening: false, reachable: false });
  }

  /** Adds a reason why a helper left, for the page. */
  note(why: string): void {
    this.#tell({ left: [...this.#state.left, why].slice(-leftMax) });
  }

  #refusal(): string | null {
    if (this.#model === null) return 'Open a model first: helpers get it from this tab.';
    const { bytes, detector } = this.#model;
    if (bytes.length > wireBounds.modelBytesMax) return `Models of up to ${wireBounds.modelBytesMax >> 20} MiB can be shared; this one is larger.`;
    if (Math.max(detector.width, detector.height) > wireBounds.sideMax || 3 * detector.width * detector.height > wireBounds.frameBytesMax) return "The model's input is too large to be shared.";
    return null;
  }

  #add(line: ConstructorParameters<typeof RemoteNode>[1]): void {
    const id = `helper ${(this.#ids += 1)}`;
    const node = new RemoteNode(id, line, this.#fitter, {
      ready: (one) => {
        this.#crew.add(one);
        this.#tell({});
      },
      left: (one, why) => {
        this.#crew.remove(one.id);
        this.#nodes.delete(one);
        this.note(`${one.name} (${one.id}): ${why}`);
      },
    });
    if (!line.isOpen) return;
    this.#nodes.add(node);
    if (this.#model !== null) node.give(this.#model);
    this.#tell({});
  }

  #tell(change: Partial<SharingState>): void {
    this.#state = { ...this.#state, ...change, waiting: [...this.#nodes].filter(({ isReady }) => !isReady).length };
    this.#changed();
  }
}
