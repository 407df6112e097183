// Tests that the page still computes the values of tests/data/camera/golden.json, with which the helper in C++ (src/worker/camera) is
// tested. WEFT_WRITE_GOLDEN=1 writes the file again. Keys are fixed; sealed signals have random nonces, so that they are only opened.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fromBase64Url, linkOf, meetingOf, printOf, toBase64Url } from './invitation';
import { lineKeys, openSignal, Sealer, sealSignal, type OwnKey, type Signal } from './sealing';
import { encode, type Record as WireRecord } from './wire';

const file = path.resolve(import.meta.dirname, '../../../../../tests/data/camera/golden.json');
const hex = (bytes: ArrayBuffer | Uint8Array) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
const ofHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

type Golden = {
  link: string;
  id: string;
  camera: { secret: string; point: string };
  helper: { secret: string; point: string };
  offer: Signal;
  answer: Signal;
  sealedOffer: string;
  sealedAnswer: string;
  cameraRecords: string[];
  helperRecords: string[];
  records: string[];
};

const records: WireRecord[] = [
  { type: 'hello', version: 1 },
  { type: 'model', number: 3, bytes: 1000, name: 'détecteur.onnx' },
  { type: 'model-part', number: 3, offset: 7, bytes: new Uint8Array([1, 2, 255]) },
  { type: 'frame', number: 9, width: 352, height: 288, placement: { left: 0.5, top: -3, scaleX: 0.275, scaleY: 2 } },
  { type: 'frame-part', number: 9, offset: 65000, bytes: new Uint8Array([0]) },
  { type: 'ready', number: 3, gpu: true, device: 'llvmpipe' },
  {
    type: 'answer',
    number: 9,
    milliseconds: 12.5,
    boxes: [
      { classId: 17, score: 0.75, box: [1, 2.5, -3, 400], label: 'dog' },
      { classId: 0, score: 1, box: [0, 0, 0, 0], label: '' },
    ],
  },
  { type: 'refusal', number: 3, sentence: 'It does not fit.' },
];

async function newFixedKey(): Promise<{ secret: string; point: string }> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
  const { d } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  return { secret: hex(fromBase64Url(d ?? '') ?? new Uint8Array()), point: hex(await crypto.subtle.exportKey('raw', pair.publicKey)) };
}

async function keyOf({ secret, point }: { secret: string; point: string }): Promise<OwnKey> {
  const publicKey = ofHex(point);
  const part = (from: number) => toBase64Url(publicKey.slice(from, from + 32));
  const curve = { name: 'ECDH', namedCurve: 'P-256' } as const;
  const open = { kty: 'EC', crv: 'P-256', x: part(1), y: part(33) };
  const privateKey = await crypto.subtle.importKey('jwk', { ...open, d: toBase64Url(ofHex(secret)) }, curve, false, ['deriveBits']);
  return { pair: { privateKey, publicKey: await crypto.subtle.importKey('jwk', open, curve, true, []) }, publicKey };
}

/** Computes the values for two keys and a link's secret. */
async function golden(camera: Golden['camera'], helper: Golden['helper'], secret: Uint8Array<ArrayBuffer>): Promise<Golden> {
  const [cameraKey, helperKey] = await Promise.all([keyOf(camera), keyOf(helper)]);
  const invitation = { secret, print: await printOf(cameraKey.publicKey) };
  const meeting = await meetingOf(invitation);
  const attempt = toBase64Url(new Uint8Array(16).fill(7));
  const offer = { attempt, publicKey: toBase64Url(helperKey.publicKey), sdp: '' };
  const answer = { attempt, publicKey: toBase64Url(cameraKey.publicKey), sdp: '' };
  const [ours, theirs] = [new Sealer(await lineKeys('camera', cameraKey, invitation, offer, answer, 'relay')), new Sealer(await lineKeys('helper', helperKey, invitation, offer, answer, 'relay'))];
  const sealed = async (sealer: Sealer) => [hex(await sealer.seal(new TextEncoder().encode('a record'))), hex(await sealer.seal(new TextEncoder().encode('a record')))];
  return {
    link: linkOf(invitation, 'https://192.0.2.7:7300/vision'),
    id: meeting.id,
    camera,
    helper,
    offer,
    answer,
    sealedOffer: await sealSignal(meeting.key, 'offer', offer),
    sealedAnswer: await sealSignal(meeting.key, 'answer', answer),
    cameraRecords: await sealed(ours),
    helperRecords: await sealed(theirs),
    records: records.map((record) => hex(encode(record))),
  };
}

test('the values of the helper in C++ are those of this page', async () => {
  if (process.env['WEFT_WRITE_GOLDEN'] === '1') {
    const made = await golden(await newFixedKey(), await newFixedKey(), new Uint8Array(16).map((_, i) => 16 * i + 1));
    writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`);
  }
  expect(existsSync(file)).toBe(true);
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Golden;
  const secret = fromBase64Url(new URL(kept.link).hash.slice('#camera='.length))?.slice(0, 16) ?? new Uint8Array();

  const made = await golden(kept.camera, kept.helper, secret);

  expect({ ...made, sealedOffer: '', sealedAnswer: '' }).toEqual({ ...kept, sealedOffer: '', sealedAnswer: '' });
  const { key } = await meetingOf({ secret, print: new Uint8Array() });
  expect(await openSignal(key, 'offer', kept.sealedOffer)).toEqual(kept.offer);
  expect(await openSignal(key, 'answer', kept.sealedAnswer)).toEqual(kept.answer);
});
