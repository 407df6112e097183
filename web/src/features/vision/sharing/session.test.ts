// Tests a session of a camera's tab and a helper over a line in this process with real seals: a whole exchange, and the reaction of each
// side to wrong messages from the other side.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Sight } from '../../../engine/sight';
import type { Box, Detector } from '../../../engine/visionMessages';
import { Helper, heldBytes } from './helper';
import { invite, toBase64Url, type Invitation } from './invitation';
import { Line, type Channel } from './line';
import { RemoteNode } from './remoteNode';
import { lineKeys, newAttempt, newKey, Sealer, type Signal } from './sealing';
import { encode, heldBytesMax, partsOf, wireBounds, type Record } from './wire';

class FakeChannel implements Channel {
  binaryType = '';
  bufferedAmount = 0;
  readyState: RTCDataChannelState = 'open';
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: Event) => void) | null = null;
  other: FakeChannel | null = null;
  send(data: unknown): void {
    const { other } = this;
    setTimeout(() => other?.onmessage?.({ data } as MessageEvent));
  }
  close(): void {
    if (this.readyState === 'closed') return;
    this.readyState = 'closed';
    const { other } = this;
    setTimeout(() => {
      if (other === null || other.readyState === 'closed') return;
      other.readyState = 'closed';
      other.onclose?.(new Event('close'));
    });
  }
}

const connection = { close: () => undefined };
let invitation: Invitation;
let camera: Line;
let helper: Line;
let channels: [FakeChannel, FakeChannel];
let sealers: [Sealer, Sealer];

beforeEach(async () => {
  const [ours, theirs] = [await newKey(), await newKey()];
  invitation = await invite(ours.publicKey);
  const offer: Signal = { attempt: newAttempt(), publicKey: toBase64Url(theirs.publicKey), sdp: 'o' };
  const answer: Signal = { attempt: offer.attempt, publicKey: toBase64Url(ours.publicKey), sdp: 'a' };
  sealers = [new Sealer(await lineKeys('camera', ours, invitation, offer, answer)), new Sealer(await lineKeys('helper', theirs, invitation, offer, answer))];
  channels = [new FakeChannel(), new FakeChannel()];
  [channels[0].other, channels[1].other] = [channels[1], channels[0]];
  camera = new Line(channels[0], sealers[0], connection);
  helper = new Line(channels[1], sealers[1], connection);
});
afterEach(() => vi.restoreAllMocks());

const detector: Detector = { name: 'm', width: 200, height: 100, weightBytes: 10, outputBytes: 4, fit: 'letterbox', device: { kind: 'gpu', name: 'a GPU', reason: '' } };
const box: Box = { classId: 1, label: 'bus', score: 0.5, box: [1, 2, 3, 4] };
const placement = { left: 0, top: 0, scaleX: 1, scaleY: 1 };
const modelBytes = Uint8Array.from({ length: 150_000 }, (_, i) => i * 7);

/** A fake engine of a helper; it records its calls and answers when the test says so, or at once. */
class FakeSight extends Sight {
  readonly models: Uint8Array[] = [];
  readonly frames: Uint8Array[] = [];
  holds = false;
  detector: Detector | Error = detector;
  readonly #held: (() => void)[] = [];
  override call = ((method: string, argument: ArrayBuffer & { levels: ArrayBuffer }) => {
    if (method === 'open') {
      this.models.push(new Uint8Array(argument));
      return this.detector instanceof Error ? Promise.reject(this.detector) : Promise.resolve(this.detector);
    }
    if (method === 'fit') return Promise.resolve({ levels: new Uint8Array(60_000).fill(9).buffer, placement });
    this.frames.push(new Uint8Array(argument.levels));
    const seen = { boxes: [box], milliseconds: 5, pictureBytes: 1, answerBytes: 1 };
    return this.holds ? new Promise((resolve) => this.#held.push(() => resolve(seen))) : Promise.resolve(seen);
  }) as Sight['call'];
  release = () => this.#held.shift()?.();
}

function remote() {
  const node = new RemoteNode('helper 1', camera, new FakeSight(), { ready, left });
  return node;
}
const ready = vi.fn();
const left = vi.fn();
beforeEach(() => {
  ready.mockReset();
  left.mockReset();
});
const model = (number = 1) => ({ number, name: 'm.onnx', bytes: modelBytes.slice(), detector });
const frame = { clone: () => ({}) } as unknown as VideoFrame;
const task = (number: number) => ({ number, frame, fit: 'letterbox', blueFirst: false }) as const;

/** Returns a helper that has joined a line; the test sends the camera's messages on it. */
async function joined(sight = new FakeSight()) {
  const one = new Helper(invitation, sight, () => Promise.resolve(helper));
  const heard: Record[] = [];
  camera.listen({ heard: (record) => heard.push(record), closed: () => undefined });
  await one.join();
  return { helper: one, sight, heard };
}
async function withModel(sight = new FakeSight()) {
  const all = await joined(sight);
  await camera.send({ type: 'model', number: 1, bytes: modelBytes.length, name: 'm.onnx' });
  await camera.sendAll(partsOf('model-part', 1, modelBytes));
  await vi.waitFor(() => expect(all.heard).toContainEqual({ type: 'ready', number: 1, gpu: true, device: 'a GPU' }));
  return all;
}
const frameOf = (number: number): Record[] => [{ type: 'frame', number, width: 200, height: 100, placement }, ...partsOf('frame-part', number, new Uint8Array(60_000).fill(number))];
const ended = (one: Helper) => vi.waitFor(() => expect(one.state().stage).toBe('ended'));

test('a helper gets the model, then a frame, and its boxes come back', async () => {
  const sight = new FakeSight();
  const one = new Helper(invitation, sight, () => Promise.resolve(helper));
  const node = remote();
  await one.join();
  node.give(model());
  await vi.waitFor(() => expect(ready).toHaveBeenCalledWith(node));
  expect(sight.models).toEqual([modelBytes]);
  expect(node.name).toBe('a GPU');

  const looked = await node.look(task(5));

  expect(looked.boxes).toEqual([box]);
  expect(looked.linkBytes).toBeGreaterThan(60_000);
  expect(sight.frames).toEqual([new Uint8Array(60_000).fill(9)]);
  expect(one.state()).toMatchObject({ stage: 'helping', frames: 1, model: 'm.onnx' });
});

test('another model replaces the first, also while that is opened, and frames of the first come to nothing', async () => {
  const sight = new FakeSight();
  const one = new Helper(invitation, sight, () => Promise.resolve(helper));
  const node = remote();
  await one.join();
  node.give(model(1));
  node.give(model(2));
  node.give(model(3));
  await vi.waitFor(() => expect(ready).toHaveBeenCalledTimes(1));
  expect(sight.models).toHaveLength(2);

  sight.holds = true;
  const late = node.look(task(1));
  await vi.waitFor(() => expect(sight.frames).toHaveLength(1));
  node.give(model(4));
  await expect(late).rejects.toThrow('Another model');
  await vi.waitFor(() => expect(ready).toHaveBeenCalledTimes(2));
  sight.release();
  sight.holds = false;
  await node.look(task(2));
  expect(left).not.toHaveBeenCalled();
});

test('a helper that leaves fails the frames that it has, at once', async () => {
  const sight = new FakeSight();
  sight.holds = true;
  const one = new Helper(invitation, sight, () => Promise.resolve(helper));
  const node = remote();
  await one.join();
  node.give(model());
  await vi.waitFor(() => expect(ready).toHaveBeenCalled());
  const looked = node.look(task(1));
  looked.catch(() => undefined);
  await vi.waitFor(() => expect(sight.frames).toHaveLength(1));

  one.leave();

  await expect(looked).rejects.toThrow();
  expect(left).toHaveBeenCalledTimes(1);
  expect(node.takes).toBe(false);
});

test('a model that the helper cannot open ends it, and says why on both sides', async () => {
  const sight = new FakeSight();
  sight.detector = new Error('The model is no detector that is known.');
  const one = new Helper(invitation, sight, () => Promise.resolve(helper));
  const node = remote();
  await one.join();
  node.give(model());
  await vi.waitFor(() => expect(left).toHaveBeenCalledWith(node, 'The device cannot help: The model is no detector that is known.'));
  expect(one.state()).toMatchObject({ stage: 'ended', why: 'The model is no detector that is known.' });
});

test('a helper holds no more than 256 MiB for a camera', async () => {
  expect(heldBytes(wireBounds.modelBytesMax, { ...detector, weightBytes: wireBounds.modelBytesMax })).toBeLessThan(heldBytesMax);
  const sight = new FakeSight();
  sight.detector = { ...detector, weightBytes: 140 << 20 };
  const { helper: one, heard } = await joined(sight);
  await camera.send({ type: 'model', number: 1, bytes: modelBytes.length, name: 'm.onnx' });
  await camera.sendAll(partsOf('model-part', 1, modelBytes));
  await ended(one);
  expect(one.state().why).toMatch(/more than 256 MiB/);
  expect(heard.some(({ type }) => type === 'refusal')).toBe(true);
});

test.each([
  ['a frame before the model', frameOf(1)],
  ['a part of no model', [...partsOf('model-part', 1, new Uint8Array(10))]],
  ['a part of no frame', [...partsOf('frame-part', 1, new Uint8Array(10))]],
  ['a second model before the first is there', [1, 2].map((number): Record => ({ type: 'model', number, bytes: 10, name: 'x' }))],
  ['an answer', [{ type: 'answer', number: 1, milliseconds: 1, boxes: [] } as Record]],
])('a helper ends a line on which comes %s', async (_, records) => {
  const { helper: one } = await joined();
  for (const record of records) await camera.send(record);
  await ended(one);
  expect(one.state().why).toMatch(/not allowed here/);
});

test('a helper has one frame in work and one that waits; a third ends the line', async () => {
  const sight = new FakeSight();
  sight.holds = true;
  const { helper: one } = await withModel(sight);
  for (const record of [...frameOf(1), ...frameOf(2)]) await camera.send(record);
  await vi.waitFor(() => expect(sight.frames).toHaveLength(1));
  expect(one.state().stage).toBe('helping');
  for (const record of frameOf(3)) await camera.send(record);
  await ended(one);
});

test("a frame of a size other than the model's input ends the line", async () => {
  const { helper: one, sight } = await withModel();
  await camera.send({ type: 'frame', number: 1, width: 100, height: 100, placement });
  await ended(one);
  expect(sight.frames).toEqual([]);
});

test.each<[string, Record]>([
  ['an answer to no frame', { type: 'answer', number: 9, milliseconds: 1, boxes: [] }],
  ['that it is ready again', { type: 'ready', number: 1, gpu: false, device: 'x' }],
  ['that it has another model', { type: 'ready', number: 7, gpu: false, device: 'x' }],
  ['a frame', { type: 'frame', number: 1, width: 1, height: 1, placement }],
  ['a model', { type: 'model', number: 1, bytes: 1, name: 'x' }],
])("the camera's tab ends a line on which a helper says %s", async (what, record) => {
  const node = remote();
  node.give(model());
  if (!what.includes('another')) {
    await helper.send({ type: 'ready', number: 1, gpu: false, device: 'x' });
    await vi.waitFor(() => expect(ready).toHaveBeenCalled());
  }
  await helper.send(record);
  await vi.waitFor(() => expect(left).toHaveBeenCalledWith(node, 'The device sent an answer that was not asked for.'));
});

test.each<[string, () => Promise<unknown>]>([
  ['bytes by chance', () => Promise.resolve(channels[1].send(crypto.getRandomValues(new Uint8Array(500)).buffer))],
  ['text', () => Promise.resolve(channels[1].send('{"type":"answer"}'))],
  ['a record in the clear', () => Promise.resolve(channels[1].send(encode({ type: 'answer', number: 1, milliseconds: 1, boxes: [box] }).buffer))],
  ['a record over the bound', () => Promise.resolve(channels[1].send(new ArrayBuffer(wireBounds.recordBytesMax + 1)))],
  ['a sealed record of another type', async () => channels[1].send(await sealers[1].seal(new Uint8Array([99])))],
])('a line ends at %s, and no part of it is heard', async (_, send) => {
  const node = remote();
  node.give(model());
  await helper.send({ type: 'ready', number: 1, gpu: false, device: 'x' });
  await vi.waitFor(() => expect(ready).toHaveBeenCalled());
  const looked = node.look(task(1));
  looked.catch(() => undefined);
  await send();
  await vi.waitFor(() => expect(left).toHaveBeenCalledWith(node, 'The other browser sent a message that is not allowed here.'));
  await expect(looked).rejects.toThrow();
});

test('a record over the bound is not even opened', async () => {
  const open = vi.spyOn(sealers[0], 'open');
  camera.listen({ heard: () => undefined, closed: left });
  channels[1].send(new ArrayBuffer(wireBounds.recordBytesMax + 1));
  await vi.waitFor(() => expect(left).toHaveBeenCalled());
  expect(open).not.toHaveBeenCalled();
});

test('a peer that sends faster than this tab opens is sent away before it fills the memory', () => {
  vi.spyOn(sealers[0], 'open').mockReturnValue(new Promise(() => undefined));
  camera.listen({ heard: () => undefined, closed: left });
  const most = (32 << 20) / wireBounds.recordBytesMax;
  const data = new ArrayBuffer(wireBounds.recordBytesMax);
  for (let i = 0; i < most; i += 1) channels[0].onmessage?.({ data } as MessageEvent);
  expect(left).not.toHaveBeenCalled();
  channels[0].onmessage?.({ data } as MessageEvent);
  expect(left).toHaveBeenCalledTimes(1);
});
