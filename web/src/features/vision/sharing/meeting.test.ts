// Tests the camera's door with a fake coordinator and fake connections: the link lets a helper join, and bounds hold against strangers,
// against a coordinator that reads, replays or replaces messages, and against many attempts.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { invitationOf, linkOf, meetingOf, toBase64Url, type Invitation } from './invitation';
import type { Line } from './line';
import { numbered, ofGuest } from './relay';
import { Door, doorBounds, join, type DoorBounds } from './meeting';
import { newAttempt, newKey, openSignal, sealSignal, type Signal } from './sealing';

class FakeChannel {
  binaryType = '';
  bufferedAmount = 0;
  readyState = 'connecting';
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: Event) => void) | null = null;
  onopen: (() => void) | null = null;
  other: FakeChannel | null = null;
  open(): void {
    this.readyState = 'open';
    this.onopen?.();
  }
  send(data: unknown): void {
    const { other } = this;
    setTimeout(() => other?.onmessage?.({ data } as MessageEvent));
  }
  close(): void {
    if (this.readyState === 'closed') return;
    this.readyState = 'closed';
    setTimeout(() => this.other?.onclose?.(new Event('close')));
  }
}

/** Fake connections, which find each other by the contents of their descriptions. */
class FakeConnection {
  static all: FakeConnection[] = [];
  /** False: no two devices reach each other. `addresses`: descriptions have some. */
  static reaches = true;
  static addresses = true;
  readonly id = FakeConnection.all.push(this);
  iceGatheringState = 'complete';
  connectionState = 'new';
  onconnectionstatechange: (() => void) | null = null;
  localDescription: { sdp: string } | null = null;
  ondatachannel: ((event: { channel: FakeChannel }) => void) | null = null;
  closed = false;
  #channel: FakeChannel | null = null;
  #remote: FakeConnection | null = null;
  static #description = (id: number) => `description of ${id}${FakeConnection.addresses ? ' with a=candidate' : ''}`;
  addEventListener(): void {}
  createDataChannel(): FakeChannel {
    return (this.#channel = new FakeChannel());
  }
  setLocalDescription(): Promise<void> {
    this.localDescription = { sdp: FakeConnection.#description(this.id) };
    return Promise.resolve();
  }
  setRemoteDescription({ type, sdp }: { type: string; sdp: string }): Promise<void> {
    this.#remote = FakeConnection.all.find(({ id }) => sdp === FakeConnection.#description(id)) ?? null;
    const caller = this.#channel;
    if (type !== 'answer' || caller === null || this.#remote === null || !FakeConnection.reaches) return Promise.resolve();
    const called = new FakeChannel();
    [caller.other, called.other] = [called, caller];
    const remote = this.#remote;
    setTimeout(() => {
      remote.ondatachannel?.({ channel: called });
      setTimeout(() => {
        called.open();
        caller.open();
      });
    });
    return Promise.resolve();
  }
  close(): void {
    this.closed = true;
  }
}

/** A fake of the coordinator's /v1/meet, without its bounds; `pass` may replace messages. */
class FakeCoordinator {
  hosts = new Map<string, FakeSocket>();
  guests: { socket: FakeSocket; meeting: string }[] = [];
  offers: string[] = [];
  /** The guests with a relay, and the records that went over it. */
  relays = new Set<number>();
  records: Uint8Array[] = [];
  pass: (text: string) => string | Promise<string> = (text) => text;

  take(socket: FakeSocket, text: string): void {
    const guest = this.guests.findIndex((one) => one.socket === socket);
    if (guest >= 0) {
      this.offers.push(text);
      const host = this.hosts.get(this.guests[guest]?.meeting ?? '');
      host?.hear(JSON.stringify({ guest, text }));
      return;
    }
    const said = JSON.parse(text) as { meet?: string; as?: string; guest?: number; text?: string; relay?: boolean };
    if (said.guest !== undefined && said.relay !== undefined) {
      if (!said.relay) return this.guests[said.guest]?.socket.end('The camera has ended the connection.');
      this.relays.add(said.guest);
      this.credit(socket, said.guest, 1 << 20);
    } else if (said.guest !== undefined) {
      const to = this.guests[said.guest]?.socket;
      void Promise.resolve(this.pass(said.text ?? '')).then((passed) => to?.hear(passed));
    } else if (said.as === 'host') {
      this.hosts.set(said.meet ?? '', socket);
      socket.hear('{"iceServers":[]}');
    } else if (this.hosts.has(said.meet ?? '')) {
      this.guests.push({ socket, meeting: said.meet ?? '' });
      socket.hear('{"iceServers":[]}');
    } else {
      socket.end('The meeting does not exist, or it has ended.');
    }
  }
  /** Gives both sides of a relay credit. */
  credit(host: FakeSocket, guest: number, bytes: number): void {
    const message = new Uint8Array([1, 0, 0, 0, 0]);
    new DataView(message.buffer).setUint32(1, bytes, true);
    host.hear(numbered(guest, message).buffer);
    this.guests[guest]?.socket.hear(message.buffer);
  }
  takeBinary(socket: FakeSocket, bytes: Uint8Array<ArrayBuffer>): void {
    const from = this.guests.findIndex((one) => one.socket === socket);
    const said = from >= 0 ? { guest: from, message: bytes } : ofGuest(bytes.slice().buffer);
    if (said === null || !this.relays.has(said.guest) || said.message[0] !== 0) return;
    this.records.push(said.message.slice(1));
    if (from < 0) return this.guests[said.guest]?.socket.hear(said.message.slice().buffer);
    this.hosts.get(this.guests[from]?.meeting ?? '')?.hear(numbered(from, said.message).buffer);
  }
  /** Sends a text to the only host, as a guest would. */
  say(text: string): void {
    for (const host of this.hosts.values()) host.hear(JSON.stringify({ guest: 999, text }));
  }
}
let coordinator: FakeCoordinator;

class FakeSocket {
  static readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  binaryType = '';
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null = null;
  onclose: ((event: { reason: string }) => void) | null = null;
  constructor() {
    setTimeout(() => this.onopen?.());
  }
  send(said: string | Uint8Array<ArrayBuffer>): void {
    setTimeout(() => (typeof said === 'string' ? coordinator.take(this, said) : coordinator.takeBinary(this, said)));
  }
  hear(data: string | ArrayBuffer): void {
    setTimeout(() => this.onmessage?.({ data }));
  }
  end(reason: string): void {
    setTimeout(() => this.onclose?.({ reason }));
  }
  close(): void {
    this.readyState = 3;
    this.end('');
  }
}

let doors: Door[];
let joined: Line[];
beforeEach(() => {
  FakeConnection.all = [];
  FakeConnection.reaches = FakeConnection.addresses = true;
  coordinator = new FakeCoordinator();
  doors = [];
  joined = [];
  vi.stubGlobal('RTCPeerConnection', FakeConnection);
  vi.stubGlobal('WebSocket', FakeSocket);
});
afterEach(() => {
  for (const door of doors) door.close();
  vi.unstubAllGlobals();
});

async function opened(bounds: Partial<DoorBounds> = {}): Promise<Invitation> {
  const reachable = vi.fn();
  const door = await Door.open({ joined: (line) => joined.push(line), reachable }, { ...doorBounds, ...bounds });
  doors.push(door);
  await vi.waitFor(() => expect(reachable).toHaveBeenCalledWith(true));
  const { hash } = new URL(linkOf(door.invitation, 'http://localhost/vision'));
  const invitation = invitationOf(hash);
  if (invitation === null) throw new Error('no invitation');
  return invitation;
}
async function offer(invitation: Invitation): Promise<string> {
  const { key } = await meetingOf(invitation);
  const { publicKey } = await newKey();
  return sealSignal(key, 'offer', { attempt: newAttempt(), publicKey: toBase64Url(publicKey), sdp: 'description of none with a=candidate' });
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 100));

test('the link leads a helper to the camera, and records go both ways', async () => {
  const invitation = await opened();
  const line = await join(invitation);
  await vi.waitFor(() => expect(joined).toHaveLength(1));
  const heard = vi.fn();
  line.listen({ heard, closed: () => undefined });
  await joined[0]?.send({ type: 'model', number: 1, bytes: 5, name: 'm' });
  await vi.waitFor(() => expect(heard).toHaveBeenCalledWith({ type: 'model', number: 1, bytes: 5, name: 'm' }));
});

test('the coordinator reads neither descriptions nor keys', async () => {
  const invitation = await opened();
  await join(invitation);
  expect(coordinator.offers).toHaveLength(1);
  expect(atob((coordinator.offers[0] ?? '').replaceAll('-', '+').replaceAll('_', '/'))).not.toMatch(/description|sdp|attempt/);
});

test('another secret leads to no meeting', async () => {
  const invitation = await opened();
  await expect(join({ ...invitation, secret: invitation.secret.map((byte) => byte ^ 1) })).rejects.toThrow('meeting does not exist');
  expect(FakeConnection.all).toHaveLength(0);
});

test('an answer of a guest that has the link, or of the coordinator, is not taken for that of the camera', async () => {
  const invitation = await opened();
  const { key } = await meetingOf(invitation);
  const thief = await newKey();
  coordinator.pass = async (text) => {
    const answer = (await openSignal(key, 'answer', text)) as Signal;
    return sealSignal(key, 'answer', { ...answer, publicKey: toBase64Url(thief.publicKey) });
  };
  await expect(join(invitation)).rejects.toThrow('not the camera of this link');
  coordinator.pass = () => 'garbage';
  await expect(join(invitation)).rejects.toThrow('not the camera of this link');
  expect(joined).toEqual([]);
});

test('a description that was replaced on the way gives other keys, and the line does not open', async () => {
  const invitation = await opened();
  const { key } = await meetingOf(invitation);
  coordinator.pass = async (text) => {
    const answer = (await openSignal(key, 'answer', text)) as Signal;
    // A guest with the link is in the middle: its own connection, which passes everything on, replaces the camera's.
    FakeConnection.prototype.setRemoteDescription = replaced;
    return sealSignal(key, 'answer', { ...answer, sdp: `${answer.sdp} with another fingerprint` });
  };
  const real = FakeConnection.prototype.setRemoteDescription;
  function replaced(this: FakeConnection, { type, sdp }: { type: string; sdp: string }) {
    return real.call(this, { type, sdp: sdp.replace(' with another fingerprint', '') });
  }
  try {
    await expect(join(invitation)).rejects.toThrow(/not allowed here|broke/);
    expect(joined).toEqual([]);
  } finally {
    FakeConnection.prototype.setRemoteDescription = real;
  }
});

test('what is not sealed with the secret makes no connection', async () => {
  const invitation = await opened();
  const other = await meetingOf({ ...invitation, secret: new Uint8Array(16) });
  coordinator.say('garbage');
  coordinator.say(await sealSignal(other.key, 'offer', { attempt: newAttempt(), publicKey: '', sdp: 'x' }));
  coordinator.say(JSON.stringify({ attempt: newAttempt() }));
  await settled();
  expect(FakeConnection.all).toHaveLength(0);
});

test('an offer counts once, however often it is sent', async () => {
  const invitation = await opened();
  const text = await offer(invitation);
  for (let i = 0; i < 3; i += 1) coordinator.say(text);
  await settled();
  expect(FakeConnection.all).toHaveLength(1);
});

test.each<[keyof DoorBounds, number]>([
  ['attemptsMax', 2],
  ['attemptsEver', 2],
])('the bound %s holds, and without it every offer makes a connection', async (bound, most) => {
  for (const [value, expected] of [
    [most, most],
    [Infinity, 5],
  ] as const) {
    FakeConnection.all = [];
    coordinator = new FakeCoordinator();
    const invitation = await opened({ attemptsMax: Infinity, attemptsEver: Infinity, [bound]: value });
    for (let i = 0; i < 5; i += 1) coordinator.say(await offer(invitation));
    await settled();
    expect(FakeConnection.all).toHaveLength(expected);
  }
});

test('so many helpers are let in, and one more once one has left', async () => {
  for (const [helpersMax, expected] of [
    [1, 1],
    [Infinity, 2],
  ] as const) {
    coordinator = new FakeCoordinator();
    joined = [];
    const invitation = await opened({ helpersMax });
    const first = await join(invitation);
    const second = join(invitation);
    second.catch(() => undefined);
    await vi.waitFor(() => expect(coordinator.offers).toHaveLength(2));
    await settled();
    expect(joined).toHaveLength(expected);
    first.close('It left.');
    await settled();
    await join(invitation);
    await vi.waitFor(() => expect(joined).toHaveLength(expected + 1));
  }
});

test('a closed door lets no helper in, and sends away those that are there', async () => {
  const invitation = await opened();
  const line = await join(invitation);
  await vi.waitFor(() => expect(joined).toHaveLength(1));
  const closed = vi.fn();
  line.listen({ heard: () => undefined, closed });
  doors[0]?.close();
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
});

/** Sends a record in each direction. */
async function bothWays(line: Line): Promise<void> {
  await vi.waitFor(() => expect(joined).toHaveLength(1));
  const [here, there] = [vi.fn(), vi.fn()];
  line.listen({ heard: there, closed: () => undefined });
  joined[0]?.listen({ heard: here, closed: () => undefined });
  await joined[0]?.send({ type: 'model', number: 1, bytes: 5, name: 'm' });
  await line.send({ type: 'ready', number: 1, gpu: false, device: 'd' });
  await vi.waitFor(() => expect(there).toHaveBeenCalledWith({ type: 'model', number: 1, bytes: 5, name: 'm' }));
  await vi.waitFor(() => expect(here).toHaveBeenCalledWith({ type: 'ready', number: 1, gpu: false, device: 'd' }));
}

test('two devices that reach each other use no relay', async () => {
  const line = await join(await opened());
  await bothWays(line);
  expect(line.path).toBe('direct');
  expect(joined[0]?.path).toBe('direct');
  expect(coordinator.relays.size).toBe(0);
});

test('devices without addresses meet over the relay at once, which sees sealed records only', async () => {
  FakeConnection.addresses = FakeConnection.reaches = false;
  const line = await join(await opened());
  await bothWays(line);
  expect(line.path).toBe('relay');
  expect(joined[0]?.path).toBe('relay');
  expect(coordinator.records.length).toBeGreaterThanOrEqual(4);
  for (const record of coordinator.records) expect(record.length).toBeGreaterThanOrEqual(2 + 16);
  expect(FakeConnection.all.every(({ closed }) => closed)).toBe(true);
});

test('devices that do not reach each other meet over the relay after some seconds', async () => {
  FakeConnection.reaches = false;
  const invitation = await opened();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const paths: string[] = [];
    void join(invitation).then(({ path }) => paths.push(path));
    for (let i = 0; i < 60 && paths.length === 0; i += 1) {
      if (i === 20) expect(coordinator.relays.size).toBe(0);
      await vi.advanceTimersByTimeAsync(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(paths).toEqual(['relay']);
  } finally {
    vi.useRealTimers();
  }
});

test('the end of a relay ends the line on the other side', async () => {
  FakeConnection.addresses = FakeConnection.reaches = false;
  const line = await join(await opened());
  await vi.waitFor(() => expect(joined).toHaveLength(1));
  const closed = vi.fn();
  line.listen({ heard: () => undefined, closed });
  joined[0]?.close('It lies.');
  await vi.waitFor(() => expect(closed).toHaveBeenCalledWith('The camera has ended the connection.'));
});

test('a record that the coordinator changes, repeats or makes up ends the line', async () => {
  for (const change of [(record: Uint8Array) => record.fill(7), (record: Uint8Array) => record.reverse()]) {
    coordinator = new FakeCoordinator();
    joined = [];
    FakeConnection.addresses = FakeConnection.reaches = false;
    const line = await join(await opened());
    await vi.waitFor(() => expect(joined).toHaveLength(1));
    const closed = vi.fn();
    line.listen({ heard: () => undefined, closed });
    const real = coordinator.takeBinary.bind(coordinator);
    coordinator.takeBinary = (socket, bytes) => {
      if (bytes[8] === 0 && bytes.length > 20) change(bytes.subarray(9));
      real(socket, bytes);
    };
    await joined[0]?.send({ type: 'model', number: 1, bytes: 5, name: 'm' });
    await vi.waitFor(() => expect(closed).toHaveBeenCalledWith('The other browser sent a message that is not allowed here.'));
  }
});
