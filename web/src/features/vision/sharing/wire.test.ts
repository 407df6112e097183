// Tests every bound of a peer's messages; random bytes are refused without any other error.
import { expect, test } from 'vitest';
import type { Box } from '../../../engine/visionMessages';
import { Assembly, chunkBytesMax, decode, encode, hello, partsOf, wireBounds, type Record } from './wire';

const placement = { left: 1, top: 2, scaleX: 0.25, scaleY: 0.5 };
const box: Box = { classId: 5, label: 'bus', score: 0.5, box: [-1, 2, 300.5, 400] };
const samples: readonly Record[] = [
  hello,
  { type: 'model', number: 1, bytes: 1000, name: 'm.onnx' },
  { type: 'model-part', number: 1, offset: 0, bytes: new Uint8Array([1, 2, 3]) },
  { type: 'frame', number: 7, width: 352, height: 320, placement },
  { type: 'frame-part', number: 7, offset: 9, bytes: new Uint8Array([255]) },
  { type: 'ready', number: 1, gpu: true, device: 'a GPU' },
  { type: 'answer', number: 7, milliseconds: 12.5, boxes: [box, { ...box, classId: 0 }] },
  { type: 'refusal', number: 1, sentence: 'It is no detector.' },
];
const patched = (record: Record, at: number, ...bytes: number[]) => {
  const out = encode(record);
  out.set(bytes, at);
  return out;
};
const sample = (type: Record['type']) => samples.find((one) => one.type === type) ?? hello;

test('records come out as they were put in', () => {
  for (const record of samples) expect(decode(encode(record))).toEqual(record);
});

test('records that are cut, or go on, are refused', () => {
  for (const record of samples) {
    const bytes = encode(record);
    const isPart = record.type.endsWith('part');
    for (let size = 0; size < bytes.length; size += 1) if (!isPart || size < 10) expect(decode(bytes.slice(0, size))).toBeNull();
    if (!isPart) expect(decode(new Uint8Array([...bytes, 0]))).toBeNull();
  }
});

test('each bound holds', () => {
  const u32 = (value: number) => [value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >>> 24) & 255];
  const f32 = (value: number) => [...new Uint8Array(new Float32Array([value]).buffer)];
  const f64 = (value: number) => [...new Uint8Array(new Float64Array([value]).buffer)];
  const refused: readonly (readonly [string, Uint8Array<ArrayBuffer>])[] = [
    ['a type that is not known', new Uint8Array([99, 0, 0, 0, 0])],
    ['another version', new Uint8Array([0, 2])],
    ['a model of no bytes', patched(sample('model'), 5, ...u32(0))],
    ['a model over the bound', patched(sample('model'), 5, ...u32(wireBounds.modelBytesMax + 1))],
    ['a name over the bound', patched({ type: 'model', number: 1, bytes: 1, name: 'x'.repeat(wireBounds.nameBytesMax) }, 9, wireBounds.nameBytesMax + 1, 0)],
    ['a part of no bytes', encode(sample('frame-part')).slice(0, 9)],
    ['a part over the bound', encode({ type: 'frame-part', number: 1, offset: 0, bytes: new Uint8Array(chunkBytesMax + 1) })],
    ['a frame without width', patched(sample('frame'), 5, 0, 0)],
    ['a frame that is too wide', patched(sample('frame'), 5, 1, 16)],
    ['a frame over the bound', patched(sample('frame'), 5, 0, 16, 0, 16)],
    ['a placement that is no number', patched(sample('frame'), 9, ...f64(NaN))],
    ['a placement without scale', patched(sample('frame'), 25, ...f64(0))],
    ['a kind of device that is neither', patched(sample('ready'), 5, 2)],
    ['a time that is no number', patched(sample('answer'), 5, ...f32(Infinity))],
    ['a time below zero', patched(sample('answer'), 5, ...f32(-1))],
    ['more boxes than the record holds', patched(sample('answer'), 9, 3, 0)],
    ['more boxes than the bound', patched(sample('answer'), 9, 255, 255)],
    ['a score over 1', patched(sample('answer'), 13, ...f32(1.5))],
    ['a side that is no number', patched(sample('answer'), 17, ...f32(NaN))],
    ['a side that is far away', patched(sample('answer'), 17, ...f32(1e9))],
    ['a label over the bound', encode({ type: 'answer', number: 1, milliseconds: 1, boxes: [{ ...box, label: 'x'.repeat(40) }] }).map((byte, i) => (i === 33 ? 41 : byte))],
    ['text that is not UTF-8', patched(sample('refusal'), 7, 0xff)],
  ];
  for (const [name, bytes] of refused) expect(decode(bytes), name).toBeNull();
});

test('writing cuts what is over a bound, so that it can be read', () => {
  const boxes = Array.from({ length: wireBounds.boxesMax + 5 }, () => ({ ...box, label: 'ü'.repeat(100) }));
  const bytes = encode({ type: 'answer', number: 1, milliseconds: 1, boxes });
  expect(bytes.length).toBeLessThan(wireBounds.recordBytesMax);
  const back = decode(bytes);
  expect(back?.type === 'answer' && back.boxes.length).toBe(wireBounds.boxesMax);
  expect(back?.type === 'answer' && back.boxes[0]?.label).toBe('ü'.repeat(20));
});

test('texts of a peer hold no marks that are not seen', () => {
  const back = decode(encode({ type: 'refusal', number: 1, sentence: 'a\nb\u202ec\u0000d' }));
  expect(back).toEqual({ type: 'refusal', number: 1, sentence: 'a b c d' });
});

test('bytes by chance are refused or read, and nothing else happens', () => {
  let seed = 17;
  const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 24;
  let read = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const base = round % 2 === 0 ? Uint8Array.from({ length: next() }, next) : encode(samples[round % samples.length] ?? hello);
    for (let i = 0; i < 3 && base.length > 0; i += 1) base[(next() * 256 + next()) % base.length] = next();
    if (round % 2 === 0 && base.length > 0) base[0] = (base[0] ?? 0) % 9;
    const record = decode(base);
    if (record === null) continue;
    read += 1;
    expect(decode(encode(record))).toEqual(record);
  }
  expect(read).toBeGreaterThan(100);
});

test('parts are put together in order, and a part that is not the next one is refused', () => {
  const bytes = Uint8Array.from({ length: 2 * chunkBytesMax + 10 }, (_, i) => i);
  const parts = [...partsOf('frame-part', 3, bytes)] as Extract<Record, { type: 'frame-part' }>[];
  expect(parts).toHaveLength(3);
  const assembly = new Assembly(3, bytes.length);
  const [first, second, third] = parts;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three');
  expect(assembly.take(second)).toBeNull();
  expect(assembly.take({ ...first, number: 4 })).toBeNull();
  expect(assembly.take(first)).toBe('more');
  expect(assembly.take(first)).toBeNull();
  expect(assembly.take(second)).toBe('more');
  expect(assembly.take({ ...third, bytes: new Uint8Array(11) })).toBeNull();
  expect(assembly.take(third)).toEqual(bytes);
});
