// Connects the camera's tab and a helper by two sealed signals over the coordinator, an offer and its answer. Each contains all addresses
// of its side. If no direct connection is made in some seconds, the camera begins a relay over the coordinator (relay.ts).
import { invite, meetingOf, toBase64Url, type Invitation, type Meeting } from './invitation';
import { Line, type Channel } from './line';
import { numbered, ofGuest, RelayChannel } from './relay';
import { isOfCamera, lineKeys, newAttempt, newKey, openSignal, Sealer, sealSignal, type OwnKey, type Path, type Signal } from './sealing';
import { hello } from './wire';

/** The resources of the camera's tab that strangers with the link may use. */
export type DoorBounds = {
  readonly helpersMax: number;
  /** The number of attempts at a time. */
  readonly attemptsMax: number;
  /** The number of attempts of one session; each is a signal that was sealed with the link's secret. */
  readonly attemptsEver: number;
};
export const doorBounds: DoorBounds = { helpersMax: 8, attemptsMax: 8, attemptsEver: 1000 };

const gatherMs = 2000; // The time to gather addresses; addresses from a STUN server may come later and are then left out.
const joinMs = 20_000;
const directMs = 5000; // The time after which a connection that is not made yet is made over the coordinator.
const againMs = 3000;

export class MeetingError extends Error {}

const meetingAddress = () => new URL('/v1/meet', window.location.href.replace(/^http/, 'ws')).href;

async function gathered(connection: RTCPeerConnection): Promise<string> {
  if (connection.iceGatheringState !== 'complete') {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, gatherMs);
      connection.addEventListener('icegatheringstatechange', () => {
        if (connection.iceGatheringState !== 'complete') return;
        clearTimeout(timer);
        resolve();
      });
    });
  }
  return connection.localDescription?.sdp ?? '';
}

function servers(text: string): RTCIceServer[] {
  const { iceServers } = JSON.parse(text) as { iceServers?: unknown };
  return Array.isArray(iceServers) ? (iceServers as RTCIceServer[]) : [];
}

/** True if a direct connection may be made: each side has an address. */
const hasAddresses = (...descriptions: string[]) => descriptions.every((sdp) => sdp.includes('a=candidate'));

type OpeningChannel = Channel & { onopen: ((event: Event) => void) | null };

/** Resolves with a line when the other side has proved by its first record that it has the keys. */
function proven(channel: OpeningChannel, sealer: Sealer, connection: { close(): void }, path: Path): Promise<Line> {
  return new Promise((resolve, reject) => {
    const line = new Line(channel, sealer, connection, path);
    const greet = () => void line.send(hello);
    if (channel.readyState === 'open') greet();
    else channel.onopen = greet;
    const timer = setTimeout(() => line.close('The connection did not open.'), joinMs);
    line.listen({
      heard: (record) => {
        if (record.type !== 'hello') return line.close('The other browser sent a message that is not allowed here.');
        clearTimeout(timer);
        line.pause();
        resolve(line);
      },
      closed: (why) => {
        clearTimeout(timer);
        reject(new MeetingError(why ?? 'The link broke.'));
      },
    });
  });
}

/** Resolves with a direct line. Rejects with NotReached if the two devices did not reach each other, so that a relay may help. */
class NotReached extends MeetingError {}
async function direct(connection: RTCPeerConnection, channel: Promise<RTCDataChannel>, sealer: Sealer): Promise<Line> {
  const failed = new Promise<never>((_, reject) => {
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === 'failed') reject(new NotReached('The two devices do not reach each other.'));
    };
    setTimeout(() => reject(new NotReached('The link did not open.')), joinMs);
  });
  failed.catch(() => undefined);
  const opened = await Promise.race([channel, failed]);
  await Promise.race([isOpen(opened), failed]);
  const line = await proven(opened, sealer, connection, 'direct');
  connection.onconnectionstatechange = () => {
    if (connection.connectionState === 'failed') line.close('The link broke.');
  };
  return line;
}
function isOpen(channel: RTCDataChannel): Promise<void> {
  return channel.readyState === 'open' ? Promise.resolve() : new Promise((resolve) => (channel.onopen = () => resolve()));
}

/**
 * Resolves with the line that is proven first, and gives up the other. A direct connection that was made and is not the other side's ends
 * both, because a relay would not be either.
 */
async function firstOf(directLine: Promise<Line> | null, relayed: Promise<Line>): Promise<Line> {
  relayed.catch(() => undefined);
  if (directLine === null) return relayed;
  return new Promise((resolve, reject) => {
    let isDecided = false;
    const take = (line: Line) => {
      if (isDecided) return line.close('Another way was taken.');
      isDecided = true;
      resolve(line);
    };
    const give = (why: unknown) => {
      isDecided = true;
      reject(why as Error);
    };
    relayed.then(take, (why: unknown) => void directLine.catch(() => give(why)));
    directLine.then(take, (why: unknown) => why instanceof NotReached || give(why));
  });
}

export type DoorEvents = {
  readonly joined: (line: Line) => void;
  /** Called with true while the coordinator passes helpers' signals to this tab. */
  readonly reachable: (is: boolean) => void;
};

/** The camera's side: lets devices that have the link join, while it is open. */
export class Door {
  readonly invitation: Invitation;
  readonly #key: OwnKey;
  readonly #meeting: Meeting;
  readonly #events: DoorEvents;
  readonly #bounds: DoorBounds;
  #socket: WebSocket | null = null;
  #iceServers: RTCIceServer[] = [];
  #underWay = 0;
  readonly #attempts = new Set<string>();
  readonly #lines = new Set<Line>();
  /** The channels over the relay of the present socket, by their guests. */
  readonly #relays = new Map<number, RelayChannel>();
  #isOpen = true;

  private constructor(invitation: Invitation, key: OwnKey, meeting: Meeting, events: DoorEvents, bounds: DoorBounds) {
    this.invitation = invitation;
    this.#key = key;
    this.#meeting = meeting;
    this.#events = events;
    this.#bounds = bounds;
  }

  static async open(events: DoorEvents, bounds = doorBounds): Promise<Door> {
    if ((globalThis.crypto as Crypto | undefined)?.subtle === undefined) throw new MeetingError('This page came without TLS, so the browser offers no keys for encryption. Open it over https.');
    const key = await newKey();
    const invitation = await invite(key.publicKey);
    const door = new Door(invitation, key, await meetingOf(invitation), events, bounds);
    door.#connect();
    return door;
  }

  close(): void {
    this.#isOpen = false;
    for (const line of this.#lines) line.close('The camera is no longer shared.');
    this.#socket?.close();
  }

  #connect(): void {
    if (!this.#isOpen) return;
    const socket = new WebSocket(meetingAddress());
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(JSON.stringify({ meet: this.#meeting.id, as: 'host' }));
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (!(data instanceof ArrayBuffer)) return this.#take(socket, String(data));
      const said = ofGuest(data);
      if (said !== null) this.#relays.get(said.guest)?.take(said.message);
    };
    socket.onclose = () => {
      const relays = [...this.#relays.values()];
      this.#relays.clear();
      for (const relay of relays) relay.end('The connection to the coordinator broke.');
      this.#events.reachable(false);
      if (this.#isOpen) setTimeout(() => this.#connect(), againMs);
    };
  }

  #take(socket: WebSocket, text: string): void {
    try {
      const said = JSON.parse(text) as { guest?: unknown; text?: unknown; gone?: unknown };
      if (said.guest === undefined) {
        this.#iceServers = servers(text);
        this.#events.reachable(true);
      } else if (typeof said.guest === 'number' && typeof said.text === 'string') {
        void this.#letIn(socket, said.guest, said.text);
      } else if (typeof said.guest === 'number' && typeof said.gone === 'string') {
        const relay = this.#relays.get(said.guest);
        this.#relays.delete(said.guest);
        relay?.end(said.gone);
      }
    } catch {
      // A message that is not the coordinator's is ignored.
    }
  }

  async #letIn(socket: WebSocket, guest: number, text: string): Promise<void> {
    if (this.#underWay >= this.#bounds.attemptsMax) return;
    this.#underWay += 1;
    let connection: RTCPeerConnection | null = null;
    try {
      const offer = await openSignal(this.#meeting.key, 'offer', text);
      for (const line of this.#lines) if (!line.isOpen) this.#lines.delete(line);
      if (offer === null || this.#attempts.has(offer.attempt) || this.#attempts.size >= this.#bounds.attemptsEver || this.#lines.size >= this.#bounds.helpersMax) return;
      this.#attempts.add(offer.attempt);
      let sdp = '';
      let opened: Promise<RTCDataChannel> | null = null;
      if (offer.sdp !== '') {
        const made = (connection = new RTCPeerConnection({ iceServers: this.#iceServers }));
        opened = new Promise((resolve) => (made.ondatachannel = ({ channel }) => resolve(channel)));
        await made.setRemoteDescription({ type: 'offer', sdp: offer.sdp });
        await made.setLocalDescription();
        sdp = await gathered(made);
      }
      const answer: Signal = { attempt: offer.attempt, publicKey: toBase64Url(this.#key.publicKey), sdp };
      const keys = (path: Path) => lineKeys('camera', this.#key, this.invitation, offer, answer, path);
      const [directKeys, relayKeys] = await Promise.all([keys('direct'), keys('relay')]);
      socket.send(JSON.stringify({ guest, text: await sealSignal(this.#meeting.key, 'answer', answer) }));
      const directLine = connection === null || opened === null ? null : direct(connection, opened, new Sealer(directKeys));
      const begun = directLine !== null && hasAddresses(offer.sdp, sdp) ? this.#notReached(directLine) : Promise.resolve();
      const relayed = begun.then(() => this.#relay(socket, guest, new Sealer(relayKeys)));
      const line = await firstOf(directLine, relayed);
      if (line.path === 'relay') connection?.close();
      if (!this.#isOpen || this.#lines.size >= this.#bounds.helpersMax) return line.close('The camera is no longer shared.');
      this.#lines.add(line);
      this.#events.joined(line);
    } catch {
      // A guest whose messages are wrong does not join.
      connection?.close();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Resolves when a relay may help. Rejects if it is not needed. */
  #notReached(line: Promise<Line>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, directMs);
      const needsNone = () => reject(new MeetingError('The direct connection was used.'));
      line.then(needsNone, (why: unknown) => (why instanceof NotReached ? resolve() : needsNone())).finally(() => clearTimeout(timer));
    });
  }

  /** Begins a relay for a guest. */
  #relay(socket: WebSocket, guest: number, sealer: Sealer): Promise<Line> {
    if (socket.readyState !== WebSocket.OPEN) throw new MeetingError('The connection to the coordinator broke.');
    const say = (relay: boolean) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify({ guest, relay }));
    const channel = new RelayChannel({
      send: (message) => socket.readyState === WebSocket.OPEN && socket.send(numbered(guest, message)),
      unsent: () => socket.bufferedAmount,
      close: () => {
        if (this.#relays.delete(guest)) say(false);
      },
    });
    this.#relays.set(guest, channel);
    const line = proven(channel, sealer, channel, 'relay');
    say(true);
    return line;
  }
}

/** The helper's side: joins a session. Rejects with a message of one sentence. */
export async function join(invitation: Invitation): Promise<Line> {
  if ((globalThis.crypto as Crypto | undefined)?.subtle === undefined) throw new MeetingError('This page came without TLS, so the browser offers no keys for encryption. Open the link over https.');
  const meeting = await meetingOf(invitation);
  const key = await newKey();
  const socket = new WebSocket(meetingAddress());
  socket.binaryType = 'arraybuffer';
  const relay = new RelayChannel({
    send: (message) => socket.readyState === WebSocket.OPEN && socket.send(message),
    unsent: () => socket.bufferedAmount,
    close: () => socket.close(),
  });
  let connection: RTCPeerConnection | null = null;
  let line: Line | null = null;
  const texts: string[] = [];
  let wake: (() => void) | null = null;
  let why: string | null = null;
  socket.onopen = () => socket.send(JSON.stringify({ meet: meeting.id, as: 'guest' }));
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) return relay.take(new Uint8Array(data));
    texts.push(String(data));
    wake?.();
  };
  socket.onclose = ({ reason }) => {
    why = reason === '' ? 'The coordinator cannot be reached.' : reason;
    relay.end(why);
    wake?.();
  };
  const deadline = performance.now() + joinMs;
  const next = async (): Promise<string> => {
    for (;;) {
      const text = texts.shift();
      if (text !== undefined) return text;
      if (why !== null) throw new MeetingError(why);
      const left = deadline - performance.now();
      if (left <= 0) throw new MeetingError('The camera did not answer.');
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, left);
      });
    }
  };
  try {
    const made = (connection = new RTCPeerConnection({ iceServers: servers(await next()) }));
    const channel = made.createDataChannel('camera', { ordered: true });
    await made.setLocalDescription();
    const offer: Signal = { attempt: newAttempt(), publicKey: toBase64Url(key.publicKey), sdp: await gathered(made) };
    socket.send(await sealSignal(meeting.key, 'offer', offer));
    const answer = await openSignal(meeting.key, 'answer', await next());
    if (answer === null || answer.attempt !== offer.attempt || !(await isOfCamera(answer.publicKey, invitation))) throw new MeetingError('What answered is not the camera of this link.');
    const keys = (path: Path) => lineKeys('helper', key, invitation, offer, answer, path);
    const [directKeys, relayKeys] = await Promise.all([keys('direct'), keys('relay')]);
    const directLine = answer.sdp === '' ? null : direct(made, Promise.resolve(channel), new Sealer(directKeys));
    const relayed = proven(relay, new Sealer(relayKeys), relay, 'relay');
    const first = firstOf(directLine, relayed);
    if (answer.sdp !== '') await made.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
    line = await first;
    return line;
  } finally {
    if (line?.path !== 'direct') connection?.close();
    if (line?.path !== 'relay') socket.close();
  }
}
