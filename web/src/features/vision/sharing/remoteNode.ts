// A helper for the camera's tab: it gets the model and then frames, and the form of its answers is checked.
import type { Sight } from '../../../engine/sight';
import type { Box, Detector } from '../../../engine/visionMessages';
import type { Looked, Node, Task } from './crew';
import type { Line } from './line';
import type { Path } from './sealing';
import { partsOf, type Record } from './wire';

export type SharedModel = { readonly number: number; readonly name: string; readonly bytes: Uint8Array<ArrayBuffer>; readonly detector: Detector };

export type RemoteEvents = {
  /** Called when the helper has opened the model. */
  readonly ready: (node: RemoteNode) => void;
  readonly left: (node: RemoteNode, why: string) => void;
};

type Waiting = { resolve(answer: { readonly boxes: readonly Box[]; readonly milliseconds: number }): void; reject(error: Error): void };

const notAsked = 'The device sent an answer that was not asked for.';
/** The most unsent bytes with which a helper still gets a frame, so that no frame waits for a link. */
const unsentBytesMax = 256 << 10;

export class RemoteNode implements Node {
  readonly id: string;
  readonly isLocal = false;
  name = 'A helper';
  isReady = false;
  readonly #line: Line;
  /** Fits pictures in a Worker other than the one of this tab's model, so that neither waits for the other. */
  readonly #fitter: Sight;
  readonly #events: RemoteEvents;
  /** The model that the helper should have, and the model that is being sent or is open there. */
  #model: SharedModel | null = null;
  #given: SharedModel | null = null;
  readonly #waiting = new Map<number, Waiting>();
  /** Frames of the previous model whose answers may still come. */
  #cancelled = new Set<number>();

  constructor(id: string, line: Line, fitter: Sight, events: RemoteEvents) {
    this.id = id;
    this.#line = line;
    this.#fitter = fitter;
    this.#events = events;
    line.listen({ heard: (record) => this.#hear(record), closed: (why) => this.#end(why ?? 'It left.') });
  }

  get path(): Path {
    return this.#line.path;
  }

  get takes(): boolean {
    return this.isReady && this.#line.isOpen && this.#line.unsent <= unsentBytesMax;
  }

  /** Gives the helper a model. It replaces the previous model after the helper has opened that one. */
  give(model: SharedModel): void {
    const isOpening = this.#given !== null && !this.isReady;
    this.#model = model;
    this.isReady = false;
    for (const number of this.#waiting.keys()) this.#cancelled.add(number);
    this.#refuse('Another model was opened.');
    if (!isOpening) void this.#send(model);
  }

  async #send(model: SharedModel): Promise<void> {
    this.#given = model;
    const { number, bytes, name } = model;
    void this.#line.send({ type: 'model', number, bytes: bytes.length, name });
    await this.#line.sendAll(partsOf('model-part', number, bytes));
  }

  async look({ number, frame, fit, blueFirst }: Task): Promise<Looked> {
    const model = this.#model;
    if (model === null || !this.isReady) throw new Error('It is not ready.');
    const before = this.#line.bytes;
    const { width, height } = model.detector;
    const given = frame.clone();
    const { levels, placement } = await this.#fitter.call('fit', { frame: given, fit, blueFirst, width, height }, [given as unknown as Transferable]);
    if (this.#model !== model || !this.isReady) throw new Error('It left.');
    const answer = new Promise<{ boxes: readonly Box[]; milliseconds: number }>((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
    // All records of a frame are sent together, with no other record between them.
    void this.#line.send({ type: 'frame', number, width, height, placement });
    for (const part of partsOf('frame-part', number, new Uint8Array(levels))) void this.#line.send(part);
    const { boxes, milliseconds } = await answer;
    return { boxes, milliseconds, pictureBytes: levels.byteLength, answerBytes: 0, linkBytes: this.#line.bytes - before };
  }

  close(why: string): void {
    this.#line.close(why);
  }

  #hear(record: Record): void {
    switch (record.type) {
      case 'ready':
        if (record.number !== this.#given?.number || this.isReady) return this.#line.close(notAsked);
        this.#cancelled.clear();
        if (this.#model !== null && this.#model !== this.#given) return void this.#send(this.#model);
        this.name = !record.gpu ? 'A processor' : record.device === '' ? 'A GPU' : record.device;
        this.isReady = true;
        return this.#events.ready(this);
      case 'refusal':
        return this.#line.close(`The device cannot help: ${record.sentence}`);
      case 'answer': {
        const waiting = this.#waiting.get(record.number);
        this.#waiting.delete(record.number);
        if (this.#cancelled.delete(record.number)) return;
        if (waiting === undefined) return this.#line.close(notAsked);
        return waiting.resolve(record);
      }
      default:
        return this.#line.close(notAsked);
    }
  }

  #refuse(why: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
    this.#waiting.clear();
  }

  #end(why: string): void {
    this.isReady = false;
    this.#refuse(why);
    this.#events.left(this, why);
  }
}
