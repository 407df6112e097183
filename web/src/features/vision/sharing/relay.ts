// A line's channel over the coordinator's relay, for two devices that have no direct connection. The coordinator passes on sealed records
// unread; src/apps/coordinator/http/meetings.h describes the messages. Each side sends only as much as it has credit for, and the other
// side gets credit for what this side has opened.
import type { Channel } from './line';

/** The first byte of a message. */
const recordMessage = 0;
const countMessage = 1;
/** A record costs at least this much credit. */
const costLeast = 1 << 10;
const guestBytes = 8;

/** The socket to the coordinator, as one channel sees it. */
export type RelayPort = {
  send(message: Uint8Array<ArrayBuffer>): void;
  /** The bytes that the socket has not sent yet. */
  unsent(): number;
  /** Tells the other side that the channel is closed. */
  close(): void;
};

export class RelayChannel implements Channel {
  binaryType = 'arraybuffer';
  onclose: ((event: Event) => void) | null = null;
  onopen: (() => void) | null = null;
  readonly #port: RelayPort;
  #state: RTCDataChannelState = 'connecting';
  #onmessage: ((event: MessageEvent) => void) | null = null;
  #early: ArrayBuffer[] = [];
  #queue: ArrayBuffer[] = [];
  #queued = 0;
  #credit = 0;

  constructor(port: RelayPort) {
    this.#port = port;
  }

  get readyState(): RTCDataChannelState {
    return this.#state;
  }
  get bufferedAmount(): number {
    return this.#queued + this.#port.unsent();
  }
  get onmessage(): ((event: MessageEvent) => void) | null {
    return this.#onmessage;
  }
  /** Records that have arrived before are passed on at once. */
  set onmessage(take: ((event: MessageEvent) => void) | null) {
    this.#onmessage = take;
    if (take !== null) for (const data of this.#early.splice(0)) take(new MessageEvent('message', { data }));
  }

  send(data: unknown): void {
    if (!(data instanceof ArrayBuffer) || this.#state !== 'open') throw new Error('The relay takes sealed records, while it is open.');
    this.#queue.push(data);
    this.#queued += data.byteLength;
    this.#flush();
  }

  /** Tells the coordinator that the oldest record was opened, so that the other side gets credit for it. */
  taken(): void {
    if (this.#state !== 'open') return;
    const message = new Uint8Array(5);
    message[0] = countMessage;
    new DataView(message.buffer).setUint32(1, 1, true);
    this.#port.send(message);
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#port.close();
  }

  /** Takes a message of the coordinator, without the number of a guest before it. */
  take(message: Uint8Array<ArrayBuffer>): void {
    if (this.#state === 'closed') return;
    // A message of the coordinator means that the relay has begun.
    const opens = this.#state === 'connecting';
    this.#state = 'open';
    const content = message.slice(1);
    if (message[0] === countMessage && content.length === 4) {
      this.#credit += new DataView(content.buffer).getUint32(0, true);
      this.#flush();
    } else if (message[0] === recordMessage) {
      if (this.#onmessage === null) this.#early.push(content.buffer);
      else this.#onmessage(new MessageEvent('message', { data: content.buffer }));
    }
    if (opens) this.onopen?.();
  }

  /** Called when the coordinator has ended the relay. */
  end(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.onclose?.(new CloseEvent('close', { reason }));
  }

  #flush(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const cost = Math.max(next.byteLength, costLeast);
      if (cost > this.#credit) return;
      this.#credit -= cost;
      this.#queue.shift();
      this.#queued -= next.byteLength;
      const message = new Uint8Array(1 + next.byteLength);
      message[0] = recordMessage;
      message.set(new Uint8Array(next), 1);
      this.#port.send(message);
    }
  }
}

/** A host's message for one of its guests, or of it. */
export function numbered(guest: number, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(guestBytes + message.length);
  new DataView(all.buffer).setBigUint64(0, BigInt(guest), true);
  all.set(message, guestBytes);
  return all;
}

/** Returns null for a message that is too short. */
export function ofGuest(bytes: ArrayBuffer): { readonly guest: number; readonly message: Uint8Array<ArrayBuffer> } | null {
  if (bytes.byteLength <= guestBytes) return null;
  return { guest: Number(new DataView(bytes).getBigUint64(0, true)), message: new Uint8Array(bytes, guestBytes) };
}
