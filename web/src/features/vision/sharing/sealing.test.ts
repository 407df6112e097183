// Tests that the link's secret and the camera's key decide which device can join: another secret, another camera, changed signals, signals
// used for another purpose, and records that were lost, doubled or changed cannot be opened.
import { expect, test } from 'vitest';
import { fromBase64Url, invitationOf, invite, linkOf, meetingOf, toBase64Url, type Invitation } from './invitation';
import { isOfCamera, lineKeys, newAttempt, newKey, openSignal, Sealer, sealSignal, signalCharactersMax, type Signal } from './sealing';

async function session() {
  const camera = await newKey();
  const helper = await newKey();
  const invitation = await invite(camera.publicKey);
  const offer: Signal = { attempt: newAttempt(), publicKey: toBase64Url(helper.publicKey), sdp: 'offer with a fingerprint' };
  const answer: Signal = { attempt: offer.attempt, publicKey: toBase64Url(camera.publicKey), sdp: 'answer with a fingerprint' };
  return { camera, helper, invitation, offer, answer };
}
const record = new Uint8Array([1, 2, 3]);

test('a link holds the invitation in its fragment, and nothing else is one', async () => {
  const { invitation } = await session();
  const link = linkOf(invitation, 'https://weft.example/vision?x=1#old');
  const { hash, pathname, search } = new URL(link);
  expect(pathname + search).toBe('/vision?x=1');
  expect(invitationOf(hash)).toEqual(invitation);
  for (const wrong of ['', '#', '#camera=', hash.slice(0, -1), `${hash}A`, hash.replace('camera', 'job'), `#camera=${'!'.repeat(43)}`]) expect(invitationOf(wrong), wrong).toBeNull();
});

test('base64url has one form for each bytes', () => {
  for (const bytes of [[], [0], [255, 254], [1, 2, 3]]) expect([...(fromBase64Url(toBase64Url(new Uint8Array(bytes))) ?? [])]).toEqual(bytes);
  for (const wrong of ['A', 'AB', 'AA==', 'A+', 'A B']) expect(fromBase64Url(wrong), wrong).toBeNull();
});

test('both sides meet under one id, which does not show the secret', async () => {
  const { invitation } = await session();
  const [one, other] = await Promise.all([meetingOf(invitation), meetingOf(invitation)]);
  expect(one.id).toMatch(/^[0-9a-f]{32}$/);
  expect(one.id).toBe(other.id);
  expect(one.id).not.toBe(Array.from(invitation.secret, (byte) => byte.toString(16).padStart(2, '0')).join(''));
  expect((await meetingOf({ ...invitation, secret: invitation.secret.map((byte, i) => (i === 15 ? byte ^ 1 : byte)) })).id).not.toBe(one.id);
});

test('a signal opens with the same secret and for the same use only', async () => {
  const { invitation, offer } = await session();
  const { key } = await meetingOf(invitation);
  const sealed = await sealSignal(key, 'offer', offer);
  expect(await openSignal(key, 'offer', sealed)).toEqual(offer);

  const other = await meetingOf({ ...invitation, secret: new Uint8Array(16) });
  expect(await openSignal(other.key, 'offer', sealed)).toBeNull();
  expect(await openSignal(key, 'answer', sealed)).toBeNull();
  const last = sealed.at(-5) === 'A' ? 'B' : 'A';
  expect(await openSignal(key, 'offer', `${sealed.slice(0, -5)}${last}${sealed.slice(-4)}`)).toBeNull();
  for (const wrong of ['', 'AAAA', '{}', 'A'.repeat(signalCharactersMax + 4)]) expect(await openSignal(key, 'offer', wrong)).toBeNull();
});

test('a signal that is sealed rightly but says something else is refused', async () => {
  const { invitation, offer } = await session();
  const { key } = await meetingOf(invitation);
  for (const wrong of [{}, { ...offer, attempt: 'short' }, { ...offer, sdp: 1 }, { ...offer, publicKey: null }, null, [], 'text']) {
    expect(await openSignal(key, 'offer', await sealSignal(key, 'offer', wrong as Signal))).toBeNull();
  }
  expect(await openSignal(key, 'offer', await sealSignal(key, 'offer', { ...offer, sdp: 'x'.repeat(signalCharactersMax) }))).toBeNull();
});

test('the link names the key of its camera: a guest that has the link cannot answer in its place', async () => {
  const { camera, invitation } = await session();
  const guest = await newKey();
  expect(await isOfCamera(toBase64Url(camera.publicKey), invitation)).toBe(true);
  expect(await isOfCamera(toBase64Url(guest.publicKey), invitation)).toBe(false);
  for (const wrong of ['', 'AAAA', '!']) expect(await isOfCamera(wrong, invitation)).toBe(false);
});

async function sealers(change: { offer?: Partial<Signal>; invitation?: Partial<Invitation> } = {}) {
  const { camera, helper, invitation, offer, answer } = await session();
  const here = new Sealer(await lineKeys('camera', camera, invitation, offer, answer));
  const there = new Sealer(await lineKeys('helper', helper, { ...invitation, ...change.invitation }, { ...offer, ...change.offer }, answer));
  return { here, there };
}

test('both sides have the same keys, one for each direction', async () => {
  const { here, there } = await sealers();
  expect(await there.open(await here.seal(record))).toEqual(record);
  expect(await here.open(await there.seal(record))).toEqual(record);
  await expect(here.open(await here.seal(record))).rejects.toThrow();
});

test('the keys differ if a description, with its fingerprint, or the secret was replaced', async () => {
  for (const change of [{ offer: { sdp: 'offer with another fingerprint' } }, { offer: { attempt: newAttempt() } }, { invitation: { secret: new Uint8Array(16) } }]) {
    const { here, there } = await sealers(change);
    await expect(there.open(await here.seal(record))).rejects.toThrow();
  }
});

test('records that are doubled, lost, exchanged or changed do not open', async () => {
  const { here, there } = await sealers();
  const [one, two, three] = [await here.seal(record), await here.seal(record), await here.seal(record)];
  await there.open(one);
  await expect(there.open(one)).rejects.toThrow(); // The doubled record was counted as the second.
  await expect(there.open(two)).rejects.toThrow(); // The second record is out of order now.
  const changed = new Uint8Array(await here.seal(record));
  changed[0] = (changed[0] ?? 0) ^ 1;
  await expect(there.open(changed.buffer)).rejects.toThrow();
  await expect(there.open(three)).rejects.toThrow();
});

test('a key that is no point of the curve is refused', async () => {
  const { camera, invitation, offer, answer } = await session();
  for (const publicKey of ['', toBase64Url(new Uint8Array(65).fill(4)), toBase64Url(new Uint8Array(64))]) await expect(lineKeys('camera', camera, invitation, { ...offer, publicKey }, answer)).rejects.toThrow();
});

test('the two ways of one attempt have keys of their own', async () => {
  const { camera, helper, invitation, offer, answer } = await session();
  const here = new Sealer(await lineKeys('camera', camera, invitation, offer, answer, 'relay'));
  const there = () => lineKeys('helper', helper, invitation, offer, answer);
  const sealed = await here.seal(record);
  await expect(new Sealer(await there()).open(sealed)).rejects.toThrow();
  expect(await new Sealer(await lineKeys('helper', helper, invitation, offer, answer, 'relay')).open(sealed)).toEqual(record);
});
