// A helper's side of a session: it receives the model and frames from the camera's tab, processes one frame at a time and returns its
// boxes.
import { Sight } from '../../../engine/sight';
import type { Detector } from '../../../engine/visionMessages';
import type { Invitation } from './invitation';
import type { Line } from './line';
import { join } from './meeting';
import type { Path } from './sealing';
import { Assembly, heldBytesMax, wireBounds, type Record } from './wire';

export type HelperState = {
  readonly stage: 'invited' | 'joining' | 'waiting' | 'opening' | 'helping' | 'ended';
  /** The reason why the session ended. */
  readonly why: string | null;
  readonly model: string | null;
  readonly detector: Detector | null;
  readonly frames: number;
  readonly milliseconds: number | null;
  readonly bytes: number;
  /** How frames travel; null while there is no line. */
  readonly path: Path | null;
};

type Incoming = { readonly assembly: Assembly; readonly frame: Extract<Record, { type: 'frame' }> };
type Frame = { readonly about: Extract<Record, { type: 'frame' }>; readonly levels: Uint8Array<ArrayBuffer> };

/**
 * Returns the memory of a model in this tab: its file while it is opened, its weights twice (in the engine and on the GPU), and frames.
 */
export function heldBytes(fileBytes: number, { weightBytes, outputBytes, width, height }: Detector): number {
  const framesHeld = 3; // One frame arrives, one waits and one is computed. The last one is also held as numbers of four bytes.
  return fileBytes + 2 * weightBytes + outputBytes + framesHeld * 3 * width * height + 4 * 3 * width * height;
}

export class Helper {
  readonly #invitation: Invitation;
  readonly #sight: Sight;
  readonly #listeners = new Set<() => void>();
  readonly #join: (invitation: Invitation) => Promise<Line>;
  #state: HelperState = { stage: 'invited', why: null, model: null, detector: null, frames: 0, milliseconds: null, bytes: 0, path: null };
  #line: Line | null = null;
  #model: { readonly number: number; readonly name: string; readonly assembly: Assembly } | null = null;
  #incoming: Incoming | null = null;
  #next: Frame | null = null;
  #busy = false;
  #models = 0;
  #turn = 0;

  constructor(invitation: Invitation, sight: Sight = new Sight(), joins: (invitation: Invitation) => Promise<Line> = join) {
    this.#invitation = invitation;
    this.#sight = sight;
    this.#join = joins;
  }

  readonly state = (): HelperState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async join(): Promise<void> {
    if (this.#line !== null || this.#state.stage === 'joining') return;
    const turn = (this.#turn += 1);
    this.#set({ stage: 'joining', why: null });
    try {
      const line = await this.#join(this.#invitation);
      if (this.#turn !== turn) return line.close('The helper left.');
      this.#line = line;
      this.#set({ stage: 'waiting', path: line.path });
      line.listen({ heard: (record) => this.#hear(line, record), closed: (why) => this.#line === line && this.#end(why ?? 'The camera’s browser ended the connection.') });
    } catch (error) {
      if (this.#turn === turn) this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  leave(): void {
    this.#turn += 1;
    const line = this.#line;
    this.#end('You left.');
    line?.close('The helper left.');
  }

  #hear(line: Line, record: Record): void {
    const refuse = () => line.close('The camera’s browser sent a message that is not allowed here.');
    switch (record.type) {
      case 'model':
        if (this.#model !== null) return refuse();
        this.#incoming = null;
        this.#next = null;
        this.#models += 1;
        this.#model = { number: record.number, name: record.name, assembly: new Assembly(record.number, record.bytes) };
        return this.#set({ stage: 'opening', model: record.name, detector: null });
      case 'model-part': {
        const whole = this.#model?.assembly.take(record) ?? null;
        if (whole === null) return refuse();
        if (whole !== 'more') void this.#open(line, whole);
        return;
      }
      case 'frame': {
        // A frame that comes too early is refused, because a camera that does not wait for answers would fill the memory of this tab.
        if (this.#incoming !== null || this.#next !== null || this.#model !== null) return refuse();
        const { detector } = this.#state;
        if (detector === null || record.width !== detector.width || record.height !== detector.height) return refuse();
        this.#incoming = { frame: record, assembly: new Assembly(record.number, 3 * record.width * record.height) };
        return;
      }
      case 'frame-part': {
        const whole = this.#incoming?.assembly.take(record) ?? null;
        if (whole === null || this.#incoming === null) return refuse();
        if (whole === 'more') return;
        this.#next = { about: this.#incoming.frame, levels: whole };
        this.#incoming = null;
        return void this.#compute(line);
      }
      default:
        return refuse();
    }
  }

  async #open(line: Line, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const number = this.#model?.number ?? 0;
    const refuse = async (sentence: string) => {
      await line.send({ type: 'refusal', number, sentence });
      if (this.#line === line) this.#end(sentence);
    };
    try {
      const size = bytes.length;
      const detector = await this.#sight.call('open', bytes.buffer, [bytes.buffer]);
      if (this.#line !== line) return;
      if (heldBytes(size, detector) > heldBytesMax) return await refuse(`The model needs more than ${heldBytesMax >> 20} MiB here.`);
      if (detector.width > wireBounds.sideMax || detector.height > wireBounds.sideMax) return await refuse("The model's input is too large.");
      this.#model = null;
      this.#set({ stage: 'helping', detector });
      await line.send({ type: 'ready', number, gpu: detector.device.kind === 'gpu', device: detector.device.name });
    } catch (error) {
      if (this.#line === line) await refuse(error instanceof Error ? error.message : String(error));
    }
  }

  async #compute(line: Line): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const models = this.#models;
    try {
      for (let frame = this.#next; frame !== null && this.#line === line; frame = this.#next) {
        this.#next = null;
        const { about, levels } = frame;
        const seen = await this.#sight.call('seeLevels', { levels: levels.buffer, placement: about.placement }, [levels.buffer]);
        // The result is dropped if another model or line has arrived meanwhile.
        if (this.#line !== line || this.#models !== models) return;
        await line.send({ type: 'answer', number: about.number, milliseconds: seen.milliseconds, boxes: seen.boxes });
        this.#set({ frames: this.#state.frames + 1, milliseconds: seen.milliseconds, bytes: line.bytes });
      }
    } catch (error) {
      if (this.#line !== line || this.#models !== models) return;
      await line.send({ type: 'refusal', number: 0, sentence: error instanceof Error ? error.message : String(error) });
      this.#end(error instanceof Error ? error.message : String(error));
    } finally {
      this.#busy = false;
    }
  }

  #end(why: string): void {
    const line = this.#line;
    this.#line = null;
    this.#model = null;
    this.#incoming = null;
    this.#next = null;
    this.#sight.close();
    this.#set({ stage: 'ended', why, detector: null });
    if (line !== null) setTimeout(() => line.close(why), 200); // Lets the last message be sent first.
  }

  #set(change: Partial<HelperState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
