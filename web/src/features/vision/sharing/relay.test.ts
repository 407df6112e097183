// Tests that a channel over the relay sends only what it has credit for, in order, and loses no record that comes early.
import { expect, test, vi } from 'vitest';
import { invite, toBase64Url } from './invitation';
import { Line } from './line';
import { numbered, ofGuest, RelayChannel } from './relay';
import { lineKeys, newAttempt, newKey, Sealer } from './sealing';
import { encode, hello } from './wire';

function channel() {
  const sent: Uint8Array[] = [];
  const close = vi.fn();
  const made = new RelayChannel({ send: (message) => sent.push(message), unsent: () => 0, close });
  return { made, sent, close };
}
const credit = (bytes: number) => {
  const message = new Uint8Array([1, 0, 0, 0, 0]);
  new DataView(message.buffer).setUint32(1, bytes, true);
  return message;
};
const record = (size: number, fill = 1) => new Uint8Array(size).fill(fill).buffer;

test('records wait for credit, in order, and count as not sent', () => {
  const { made, sent } = channel();
  const opened = vi.fn();
  made.onopen = opened;
  expect(() => made.send(record(1))).toThrow();
  made.take(credit(3000));
  expect(opened).toHaveBeenCalledTimes(1);

  for (const [size, fill] of [[2000, 1], [2000, 2], [1, 3]] as const) made.send(record(size, fill));

  expect(sent.map(({ length }) => length)).toEqual([2001]);
  expect(made.bufferedAmount).toBe(2001);
  made.take(credit(999));
  expect(sent.map(({ length }) => length)).toEqual([2001]);
  made.take(credit(1));
  expect(sent.map(([kind, fill]) => [kind, fill])).toEqual([[0, 1], [0, 2]]);
  // A short record costs 1,024 bytes.
  made.take(credit(1023));
  expect(made.bufferedAmount).toBe(1);
  made.take(credit(1));
  expect(made.bufferedAmount).toBe(0);
});

test('records that come before a listener are kept for it', () => {
  const { made } = channel();
  made.take(new Uint8Array([0, 5, 6]));
  const heard: number[][] = [];
  made.onmessage = ({ data }) => heard.push([...new Uint8Array(data as ArrayBuffer)]);
  made.take(new Uint8Array([0, 7]));
  expect(heard).toEqual([[5, 6], [7]]);
});

test('each record that was opened is counted once, until the end', () => {
  const { made, sent, close } = channel();
  made.take(credit(1));
  made.taken();
  expect(sent.map((message) => [...message])).toEqual([[1, 1, 0, 0, 0]]);
  made.close();
  made.close();
  made.taken();
  expect(sent).toHaveLength(1);
  expect(close).toHaveBeenCalledTimes(1);
});

test('the reason for the end reaches the line', () => {
  const { made, close } = channel();
  const closed = vi.fn();
  made.onclose = (event) => closed((event as CloseEvent).reason);
  made.end('Nothing went over the relay for 300 s.');
  expect(closed).toHaveBeenCalledWith('Nothing went over the relay for 300 s.');
  expect(made.readyState).toBe('closed');
  expect(close).not.toHaveBeenCalled();
});

test('the messages of a host begin with the number of the guest', () => {
  const bytes = numbered(258, new Uint8Array([0, 9]));
  expect([...bytes]).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 9]);
  const read = ofGuest(bytes.buffer);
  expect(read?.guest).toBe(258);
  expect([...(read?.message ?? [])]).toEqual([0, 9]);
  expect(ofGuest(new ArrayBuffer(8))).toBeNull();
});

test('the other side gets credit for a record that was opened, and none for one that was not', async () => {
  const [camera, helper] = await Promise.all([newKey(), newKey()]);
  const invitation = await invite(camera.publicKey);
  const attempt = newAttempt();
  const [offer, answer] = [helper, camera].map(({ publicKey }) => ({ attempt, publicKey: toBase64Url(publicKey), sdp: '' }));
  if (offer === undefined || answer === undefined) throw new Error('two keys');
  const theirs = new Sealer(await lineKeys('camera', camera, invitation, offer, answer, 'relay'));
  const { made, sent, close } = channel();
  const line = new Line(made, new Sealer(await lineKeys('helper', helper, invitation, offer, answer, 'relay')), made, 'relay');
  const heard = vi.fn();
  line.listen({ heard, closed: () => undefined });
  const message = async (sealed: Promise<ArrayBuffer>) => new Uint8Array([0, ...new Uint8Array(await sealed)]);

  made.take(await message(theirs.seal(encode(hello))));
  await vi.waitFor(() => expect(heard).toHaveBeenCalledWith(hello));
  expect(sent.map((one) => [...one])).toEqual([[1, 1, 0, 0, 0]]);

  made.take(new Uint8Array([0, 1, 2, 3]));
  await vi.waitFor(() => expect(close).toHaveBeenCalledTimes(1));
  expect(sent).toHaveLength(1);
});
