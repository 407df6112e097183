// The messages on a line between the camera's tab and a helper, as records of bytes. All that a peer sends is bounded here, before memory
// is allocated for it. Numbers are little-endian.
import type { Placement } from '../../../engine/pictureFit';
import type { Box } from '../../../engine/visionMessages';

/** The resources of this tab that a peer may use. */
export const wireBounds = {
  /** A record with its seal; every browser's data channel accepts this size in one message. */
  recordBytesMax: 64 << 10,
  /** A model's file. It is held while it arrives and again in the engine, and its weights are on the GPU: less than 256 MiB together. */
  modelBytesMax: 64 << 20,
  /** A side of a model's input, in pixels. */
  sideMax: 4096,
  /** A frame, with three levels for each pixel. */
  frameBytesMax: 16 << 20,
  boxesMax: 1000,
  labelBytesMax: 40,
  nameBytesMax: 120,
  sentenceBytesMax: 400,
} as const;

/** The most memory that a helper uses for its camera. */
export const heldBytesMax = 256 << 20;

const sealBytes = 16;
const version = 1;
export const chunkBytesMax = wireBounds.recordBytesMax - sealBytes - 64;

export type Record =
  | { readonly type: 'hello'; readonly version: number }
  | { readonly type: 'model'; readonly number: number; readonly bytes: number; readonly name: string }
  | { readonly type: 'model-part'; readonly number: number; readonly offset: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'frame'; readonly number: number; readonly width: number; readonly height: number; readonly placement: Placement }
  | { readonly type: 'frame-part'; readonly number: number; readonly offset: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'ready'; readonly number: number; readonly gpu: boolean; readonly device: string }
  | { readonly type: 'answer'; readonly number: number; readonly milliseconds: number; readonly boxes: readonly Box[] }
  | { readonly type: 'refusal'; readonly number: number; readonly sentence: string };

const types = ['hello', 'model', 'model-part', 'frame', 'frame-part', 'ready', 'answer', 'refusal'] as const;

export const hello: Record = { type: 'hello', version };

class Writer {
  #bytes = new Uint8Array(1024);
  #length = 0;

  #room(size: number): DataView {
    if (this.#length + size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + size));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    const view = new DataView(this.#bytes.buffer, this.#length, size);
    this.#length += size;
    return view;
  }
  u8 = (value: number) => this.#room(1).setUint8(0, value);
  u16 = (value: number) => this.#room(2).setUint16(0, value, true);
  u32 = (value: number) => this.#room(4).setUint32(0, value, true);
  f32 = (value: number) => this.#room(4).setFloat32(0, value, true);
  f64 = (value: number) => this.#room(8).setFloat64(0, value, true);
  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.#length - value.length);
  }
  /** Writes a text, cut to the bound between two characters. */
  text(value: string, bytesMax: number): void {
    const bytes = new TextEncoder().encode(value);
    let end = Math.min(bytes.length, bytesMax);
    while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    this.u16(end);
    this.bytes(bytes.subarray(0, end));
  }
  done = (): Uint8Array<ArrayBuffer> => this.#bytes.slice(0, this.#length);
}

/** Throws a RangeError if the record is too short; decode() catches it. */
class Reader {
  readonly #view: DataView<ArrayBuffer>;
  #at = 0;

  constructor(record: Uint8Array<ArrayBuffer>) {
    this.#view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  }
  #take(size: number): number {
    const at = this.#at;
    this.#at += size;
    return at;
  }
  u8 = () => this.#view.getUint8(this.#take(1));
  u16 = () => this.#view.getUint16(this.#take(2), true);
  u32 = () => this.#view.getUint32(this.#take(4), true);
  f32 = () => finite(this.#view.getFloat32(this.#take(4), true));
  f64 = () => finite(this.#view.getFloat64(this.#take(8), true));
  rest(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.#at, this.#view.byteLength - this.#at);
    this.#at = this.#view.byteLength;
    return bytes;
  }
  text(bytesMax: number): string {
    const size = within(this.u16(), 0, bytesMax);
    const at = this.#take(size);
    if (this.#at > this.#view.byteLength) throw new RangeError('short');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array(this.#view.buffer, this.#view.byteOffset + at, size));
    // Invisible characters are replaced by spaces: line breaks, and marks that change the direction of the text around them.
    return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ');
  }
  end(): void {
    if (this.#at !== this.#view.byteLength) throw new RangeError('long');
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError('not finite');
  return value;
}

function within(value: number, least: number, most: number): number {
  if (value < least || value > most) throw new RangeError('out of bounds');
  return value;
}

export function encode(record: Record): Uint8Array<ArrayBuffer> {
  const to = new Writer();
  to.u8(types.indexOf(record.type));
  if (record.type === 'hello') to.u8(record.version);
  else to.u32(record.number);
  switch (record.type) {
    case 'hello':
      break;
    case 'model':
      to.u32(record.bytes);
      to.text(record.name, wireBounds.nameBytesMax);
      break;
    case 'model-part':
    case 'frame-part':
      to.u32(record.offset);
      to.bytes(record.bytes);
      break;
    case 'frame':
      to.u16(record.width);
      to.u16(record.height);
      for (const value of [record.placement.left, record.placement.top, record.placement.scaleX, record.placement.scaleY]) to.f64(value);
      break;
    case 'ready':
      to.u8(record.gpu ? 1 : 0);
      to.text(record.device, wireBounds.nameBytesMax);
      break;
    case 'answer':
      to.f32(record.milliseconds);
      to.u16(Math.min(record.boxes.length, wireBounds.boxesMax));
      for (const { classId, label, score, box } of record.boxes.slice(0, wireBounds.boxesMax)) {
        to.u16(classId);
        to.f32(score);
        for (const side of box) to.f32(side);
        to.text(label, wireBounds.labelBytesMax);
      }
      break;
    case 'refusal':
      to.text(record.sentence, wireBounds.sentenceBytesMax);
      break;
  }
  return to.done();
}

function read(from: Reader): Record | null {
  const type = types[from.u8()];
  if (type === undefined) return null;
  if (type === 'hello') {
    const said = from.u8();
    return said === version ? { type, version: said } : null;
  }
  const number = from.u32();
  switch (type) {
    case 'model':
      return { type, number, bytes: within(from.u32(), 1, wireBounds.modelBytesMax), name: from.text(wireBounds.nameBytesMax) };
    case 'model-part':
    case 'frame-part': {
      const offset = from.u32();
      const bytes = from.rest();
      within(bytes.length, 1, chunkBytesMax);
      return { type, number, offset, bytes };
    }
    case 'frame': {
      const width = within(from.u16(), 1, wireBounds.sideMax);
      const height = within(from.u16(), 1, wireBounds.sideMax);
      within(3 * width * height, 1, wireBounds.frameBytesMax);
      const [left, top, scaleX, scaleY] = [from.f64(), from.f64(), from.f64(), from.f64()];
      within(Math.min(scaleX, scaleY), 1e-6, Infinity);
      return { type, number, width, height, placement: { left, top, scaleX, scaleY } };
    }
    case 'ready':
      return { type, number, gpu: within(from.u8(), 0, 1) === 1, device: from.text(wireBounds.nameBytesMax) };
    case 'answer': {
      const milliseconds = within(from.f32(), 0, 1e7);
      const count = within(from.u16(), 0, wireBounds.boxesMax);
      const boxes = Array.from({ length: count }, (): Box => {
        const classId = from.u16();
        const score = within(from.f32(), 0, 1);
        const box = [from.f32(), from.f32(), from.f32(), from.f32()] as const;
        within(Math.max(...box.map(Math.abs)), 0, 1e6);
        return { classId, score, box, label: from.text(wireBounds.labelBytesMax) };
      });
      return { type, number, milliseconds, boxes };
    }
    case 'refusal':
      return { type, number, sentence: from.text(wireBounds.sentenceBytesMax) };
  }
}

/** Returns null for bytes that encode() would not write. */
export function decode(bytes: Uint8Array<ArrayBuffer>): Record | null {
  try {
    const from = new Reader(bytes);
    const record = read(from);
    if (record !== null) from.end();
    return record;
  } catch {
    return null;
  }
}

/** Assembles bytes that arrive in parts, in order and without gaps, into a buffer whose size was announced before. */
export class Assembly {
  readonly number: number;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #filled = 0;

  constructor(number: number, size: number) {
    this.number = number;
    this.#bytes = new Uint8Array(size);
  }

  /** Adds a part. Returns the whole if it is complete, 'more' if parts are missing, and null for a part that is not the next one. */
  take({ number, offset, bytes }: { number: number; offset: number; bytes: Uint8Array }): Uint8Array<ArrayBuffer> | 'more' | null {
    if (number !== this.number || offset !== this.#filled || bytes.length > this.#bytes.length - offset) return null;
    this.#bytes.set(bytes, offset);
    this.#filled += bytes.length;
    return this.#filled === this.#bytes.length ? this.#bytes : 'more';
  }
}

/** Yields the records of a model or a frame, one after the other. */
export function* partsOf(type: 'model-part' | 'frame-part', number: number, bytes: Uint8Array<ArrayBuffer>): Generator<Record> {
  for (let offset = 0; offset < bytes.length; offset += chunkBytesMax) yield { type, number, offset, bytes: bytes.subarray(offset, offset + chunkBytesMax) };
}
