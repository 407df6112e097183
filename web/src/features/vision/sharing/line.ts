// A sealed line between the camera's tab and a helper, over a data channel or over the coordinator's relay. Records arrive unchanged and in
// order; anything else ends the line.
import type { Path, Sealer } from './sealing';
import { decode, encode, wireBounds, type Record } from './wire';

/** The part of RTCDataChannel that a line uses. */
export type Channel = Pick<RTCDataChannel, 'send' | 'close' | 'bufferedAmount' | 'readyState'> & {
  binaryType: string;
  onmessage: ((event: MessageEvent) => void) | null;
  /** The event of a relay says why it has ended (`reason`). */
  onclose: ((event: Event) => void) | null;
  /** Called for each record that was opened. */
  taken?(): void;
};

export type LineEvents = {
  readonly heard: (record: Record) => void;
  /** Called once; `why` is null if the other side closed the line. */
  readonly closed: (why: string | null) => void;
};

/** The most bytes of received records that are not opened yet; more than a whole frame and a window of a model. */
const unopenedBytesMax = 32 << 20;
const bufferedBytesMax = 1 << 20;

export class Line {
  readonly path: Path;
  readonly #channel: Channel;
  readonly #sealer: Sealer;
  readonly #connection: { close(): void };
  #events: LineEvents | null = null;
  #early: Record[] = [];
  #ended: { readonly why: string | null } | null = null;
  #sending: Promise<unknown> = Promise.resolve();
  #opening: Promise<unknown> = Promise.resolve();
  #unopened = 0;
  /** Bytes sent and received, as they travel. */
  bytes = 0;

  constructor(channel: Channel, sealer: Sealer, connection: { close(): void }, path: Path = 'direct') {
    this.path = path;
    this.#channel = channel;
    this.#sealer = sealer;
    this.#connection = connection;
    channel.binaryType = 'arraybuffer';
    channel.onmessage = ({ data }) => this.#take(data);
    channel.onclose = (event) => {
      const { reason } = event as Partial<CloseEvent>;
      this.#end(reason === undefined || reason === '' ? null : reason);
    };
  }

  listen(events: LineEvents): void {
    this.#events = events;
    for (const record of this.#early.splice(0)) events.heard(record);
    if (this.#ended !== null) events.closed(this.#ended.why);
  }

  /** Keeps received records until the next listen(). */
  pause(): void {
    this.#events = null;
  }

  get isOpen(): boolean {
    return this.#ended === null;
  }

  /** The bytes that the channel has not sent yet. */
  get unsent(): number {
    return this.#channel.bufferedAmount;
  }

  /** Sends records in the order of the calls. Has no effect after the line has ended. */
  send(record: Record): Promise<void> {
    const sent = this.#sending.then(async () => {
      if (this.#ended !== null) return;
      const sealed = await this.#sealer.seal(encode(record));
      if (this.#ended !== null || this.#channel.readyState !== 'open') return;
      this.bytes += sealed.byteLength;
      this.#channel.send(sealed);
    });
    this.#sending = sent.catch(() => this.#end('The connection takes no more data.'));
    return sent.catch(() => undefined);
  }

  /** Sends records as fast as the channel sends them. */
  async sendAll(records: Iterable<Record>): Promise<void> {
    for (const record of records) {
      while (this.isOpen && this.unsent > bufferedBytesMax) await new Promise((resolve) => setTimeout(resolve, 5));
      if (!this.isOpen) return;
      await this.send(record);
    }
  }

  close(why: string): void {
    this.#end(why);
  }

  #take(data: unknown): void {
    if (this.#ended !== null) return;
    if (!(data instanceof ArrayBuffer) || data.byteLength > wireBounds.recordBytesMax || this.#unopened + data.byteLength > unopenedBytesMax) return this.#end('The other browser sent a message that is not allowed here.');
    this.#unopened += data.byteLength;
    this.bytes += data.byteLength;
    this.#opening = this.#opening.then(async () => {
      if (this.#ended !== null) return;
      let record: Record | null = null;
      try {
        record = decode(await this.#sealer.open(data));
      } catch {
        // The record was not sealed with this line's key, or is not the next one.
      }
      this.#unopened -= data.byteLength;
      if (this.#ended !== null) return;
      if (record === null) return this.#end('The other browser sent a message that is not allowed here.');
      this.#channel.taken?.();
      if (this.#events === null) this.#early.push(record);
      else this.#events.heard(record);
    });
  }

  #end(why: string | null): void {
    if (this.#ended !== null) return;
    this.#ended = { why };
    this.#channel.close();
    this.#connection.close();
    this.#events?.closed(why);
  }
}
