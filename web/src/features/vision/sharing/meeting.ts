// Connects the camera's tab and a helper by two sealed signals over the coordinator, an offer and its answer. Each contains all addresses
// of its side.
import { invite, meetingOf, toBase64Url, type Invitation, type Meeting } from './invitation';
import { Line } from './line';
import { isOfCamera, lineKeys, newAttempt, newKey, openSignal, Sealer, sealSignal, type OwnKey, type Signal } from './sealing';
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

/** Resolves with a line when the other side has proved by its first record that it has the keys. */
function proven(channel: RTCDataChannel, sealer: Sealer, connection: RTCPeerConnection): Promise<Line> {
  return new Promise((resolve, reject) => {
    const line = new Line(channel, sealer, connection);
    const greet = () => void line.send(hello);
    if (channel.readyState === 'open') greet();
    else channel.onopen = greet;
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === 'failed') line.close('The link broke.');
    };
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
    this.#socket?.close();
    for (const line of this.#lines) line.close('The camera is no longer shared.');
  }

  #connect(): void {
    if (!this.#isOpen) return;
    const socket = new WebSocket(meetingAddress());
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ meet: this.#meeting.id, as: 'host' }));
    socket.onmessage = ({ data }) => this.#take(socket, String(data));
    socket.onclose = () => {
      this.#events.reachable(false);
      if (this.#isOpen) setTimeout(() => this.#connect(), againMs);
    };
  }

  #take(socket: WebSocket, text: string): void {
    try {
      const said = JSON.parse(text) as { guest?: unknown; text?: unknown };
      if (said.guest === undefined) {
        this.#iceServers = servers(text);
        this.#events.reachable(true);
      } else if (typeof said.guest === 'number' && typeof said.text === 'string') {
        void this.#letIn(socket, said.guest, said.text);
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
      connection = new RTCPeerConnection({ iceServers: this.#iceServers });
      const opened = new Promise<RTCDataChannel>((resolve, reject) => {
        if (connection !== null) connection.ondatachannel = ({ channel }) => resolve(channel);
        setTimeout(() => reject(new MeetingError('The connection did not open.')), joinMs);
      });
      opened.catch(() => undefined);
      await connection.setRemoteDescription({ type: 'offer', sdp: offer.sdp });
      await connection.setLocalDescription();
      const answer: Signal = { attempt: offer.attempt, publicKey: toBase64Url(this.#key.publicKey), sdp: await gathered(connection) };
      const keys = await lineKeys('camera', this.#key, this.invitation, offer, answer);
      socket.send(JSON.stringify({ guest, text: await sealSignal(this.#meeting.key, 'answer', answer) }));
      const line = await proven(await opened, new Sealer(keys), connection);
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
}

/** The helper's side: joins a session. Rejects with a message of one sentence. */
export async function join(invitation: Invitation): Promise<Line> {
  if ((globalThis.crypto as Crypto | undefined)?.subtle === undefined) throw new MeetingError('This page came without TLS, so the browser offers no keys for encryption. Open the link over https.');
  const meeting = await meetingOf(invitation);
  const key = await newKey();
  const socket = new WebSocket(meetingAddress());
  let connection: RTCPeerConnection | null = null;
  const texts: string[] = [];
  let wake: (() => void) | null = null;
  let why: string | null = null;
  socket.onopen = () => socket.send(JSON.stringify({ meet: meeting.id, as: 'guest' }));
  socket.onmessage = ({ data }) => {
    texts.push(String(data));
    wake?.();
  };
  socket.onclose = ({ reason }) => {
    why = reason === '' ? 'The coordinator cannot be reached.' : reason;
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
    connection = new RTCPeerConnection({ iceServers: servers(await next()) });
    const channel = connection.createDataChannel('camera', { ordered: true });
    await connection.setLocalDescription();
    const offer: Signal = { attempt: newAttempt(), publicKey: toBase64Url(key.publicKey), sdp: await gathered(connection) };
    socket.send(await sealSignal(meeting.key, 'offer', offer));
    const answer = await openSignal(meeting.key, 'answer', await next());
    if (answer === null || answer.attempt !== offer.attempt || !(await isOfCamera(answer.publicKey, invitation))) throw new MeetingError('What answered is not the camera of this link.');
    const keys = await lineKeys('helper', key, invitation, offer, answer);
    const line = proven(channel, new Sealer(keys), connection);
    await connection.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
    return await line;
  } catch (error) {
    connection?.close();
    throw error;
  } finally {
    socket.close();
  }
}
