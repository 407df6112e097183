// Makes GGUF files with random weights of any architecture in any weight format that the engine
// supports. A file has the metadata of a small file of the architecture, at a width of 256 (a block
// of the widest formats), and tensors of random blocks. The answers of such a model are nonsense,
// but the same nonsense on each device.
import fs from 'node:fs';
import { modelFile } from './model-server.mjs';

const width = 256;

/** For each architecture, the file whose metadata a model takes, and the numbers of the metadata that are changed. */
export const architectures = {
  llama: { template: 'tiny-mistral-random-f16.gguf', set: { 'attention.key_length': 64, 'attention.value_length': 64, 'rope.dimension_count': 64 } },
  mistral3: { template: 'tiny-mistral3-random-f16.gguf', set: { 'attention.key_length': 64, 'attention.value_length': 64, 'rope.dimension_count': 64 } },
  // The template has one layer, which is too few for a chain.
  qwen2: { template: 'tiny-qwen2-short-q4_k_m.gguf', set: { block_count: 2 } },
  qwen3: { template: 'tiny-qwen3-random-f16.gguf', set: {} },
  gemma3: { template: 'tiny-gemma3-random-q8_0.gguf', set: { 'attention.key_length': 64, 'attention.value_length': 64 } },
  qwen35: { template: 'tiny-qwen35-short-q4_k_m.gguf', set: {} },
  qwen3moe: { template: 'tiny-qwen3moe-random-q4_k_m.gguf', set: {} },
};

// Numbers between 0 and 1 that follow from a seed (mulberry32).
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// The nearest 16-bit float with five exponent bits, for magnitudes below 65,504.
function half(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? 0x8000 : 0;
  if (size < 2 ** -14) return sign | Math.round(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  return sign | (((exponent + 15) << 10) + Math.round((size / 2 ** exponent - 1) * 1024));
}

function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const single = new DataView(new ArrayBuffer(4));
function bfloat(value) {
  single.setFloat32(0, value);
  return single.getUint16(0);
}

// A block of random bytes except its scales. `halves` are the places of 16-bit floats, with their
// part of the requested deviation.
const blocksOf = (number, elements, bytes, halves) => ({
  number, elements, bytes,
  write(out, at, deviation) {
    for (const [place, part] of halves) out.writeUInt16LE(half(deviation * part), at + place);
  },
});

/** Formats by name: ggml's number, elements and bytes of a block, and the values written over its random bytes so that its numbers have a given deviation. */
export const formats = {
  F32: { number: 0, elements: 1, bytes: 4, write: (out, at, deviation, random) => out.writeFloatLE(normal(random) * deviation, at) },
  F16: { number: 1, elements: 1, bytes: 2, write: (out, at, deviation, random) => out.writeUInt16LE(half(normal(random) * deviation), at) },
  BF16: { number: 30, elements: 1, bytes: 2, write: (out, at, deviation, random) => out.writeUInt16LE(bfloat(normal(random) * deviation), at) },
  Q4_0: blocksOf(2, 32, 18, [[0, 1 / 4.6]]),
  Q4_1: blocksOf(3, 32, 20, [[0, 1 / 4.6], [2, -7.5 / 4.6]]),
  Q5_0: blocksOf(6, 32, 22, [[0, 1 / 9.2]]),
  Q5_1: blocksOf(7, 32, 24, [[0, 1 / 9.2], [2, -15.5 / 9.2]]),
  Q8_0: blocksOf(8, 32, 34, [[0, 1 / 74]]),
  Q2_K: blocksOf(10, 256, 84, [[80, 1 / 14], [82, 1.5 / 14]]),
  Q3_K: blocksOf(11, 256, 110, [[108, 1 / 43]]),
  Q4_K: blocksOf(12, 256, 144, [[0, 1 / 260], [2, 7.5 / 260]]),
  Q5_K: blocksOf(13, 256, 176, [[0, 1 / 520], [2, 15.5 / 520]]),
  Q6_K: blocksOf(14, 256, 210, [[208, 1 / 1370]]),
  IQ4_NL: blocksOf(20, 32, 18, [[0, 1 / 69]]),
  MXFP4: { number: 39, elements: 32, bytes: 17, write: (out, at, deviation) => out.writeUInt8(127 + Math.round(Math.log2(deviation / 3.3)), at) },
};

/** Random blocks whose values have about the given deviation. */
function tensorOf(format, elements, deviation, random) {
  const out = Buffer.alloc((elements / format.elements) * format.bytes);
  if (format.elements > 1) for (let at = 0; at < out.length; ++at) out[at] = Math.floor(random() * 256);
  for (let at = 0; at < out.length; at += format.bytes) format.write(out, at, deviation, random);
  return out;
}

/** The parts of a GGUF file that this module needs: [key, type, value's bytes] and [name, shape, format's number]. */
function parsed(file) {
  let at = 8;
  const u32 = () => file.readUInt32LE((at += 4) - 4);
  const u64 = () => Number(file.readBigUInt64LE((at += 8) - 8));
  const text = () => { const size = u64(); return file.toString('utf8', at, (at += size)); };
  const sizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
  const pass = (type) => {
    if (type === 8) text();
    else if (type === 9) { const of = u32(); for (let left = u64(); left > 0; --left) pass(of); }
    else at += sizes[type];
  };
  const tensorCount = u64();
  const keyCount = u64();
  const metadata = Array.from({ length: keyCount }, () => {
    const key = text();
    const type = u32();
    const from = at;
    pass(type);
    return [key, type, file.subarray(from, at)];
  });
  const tensors = Array.from({ length: tensorCount }, () => {
    const name = text();
    const shape = Array.from({ length: u32() }, u64);
    const number = u32();
    u64();
    return [name, shape, number];
  });
  return { metadata, tensors };
}

const u32Bytes = (value) => { const out = Buffer.alloc(4); out.writeUInt32LE(value); return out; };
const u64Bytes = (value) => { const out = Buffer.alloc(8); out.writeBigUInt64LE(BigInt(value)); return out; };
const textBytes = (value) => Buffer.concat([u64Bytes(Buffer.byteLength(value)), Buffer.from(value)]);
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);

/** Makes the file of a model. A matrix is in `format` (a name of `formats`) if its rows have whole blocks, else in F16. */
export function randomModel(architecture, format, seed = 1) {
  const { template, set } = architectures[architecture];
  const { metadata, tensors } = parsed(fs.readFileSync(modelFile(template)));
  const random = randomFrom(seed);
  const name = metadata.find(([key]) => key === 'general.architecture')[2].toString('utf8', 8);
  const number = (key) => metadata.find(([found]) => found === `${name}.${key}`)?.[2].readUInt32LE(0);
  const before = { width: number('embedding_length'), feed: number('feed_forward_length') };
  const changed = { ...set, embedding_length: width, ...(before.feed % width === 0 ? {} : { feed_forward_length: width }) };
  const heads = number('attention.head_count');
  const groups = number('attention.head_count_kv');
  const headBefore = number('attention.key_length') ?? before.width / heads;
  const head = changed['attention.key_length'] ?? headBefore;
  const feed = changed.feed_forward_length ?? before.feed;

  const layers = changed.block_count ?? number('block_count');
  const more = Array.from({ length: layers - number('block_count') }, (_, i) => tensors.filter(([tensor]) => tensor.startsWith('blk.0.'))
    .map(([tensor, ...rest]) => [tensor.replace('blk.0.', `blk.${number('block_count') + i}.`), ...rest])).flat();

  const rows = [];
  for (const [tensor, shape, kind] of [...tensors, ...more]) {
    const part = tensor.replace(/^blk\.\d+\./, '').replace(/\.weight$/, '');
    const to = [...shape];
    if (/^attn_[qk]_norm$/.test(part)) to[0] = head;
    else if (to[0] === before.width) to[0] = width;
    if (/^attn_[kv]$/.test(part)) to[1] = groups * head;
    else if (part === 'attn_q') to[1] = (shape[1] / headBefore) * head;
    else if (part === 'attn_output') [to[0], to[1]] = [(shape[0] / headBefore) * head, width];
    else if (/^ffn_(gate|up)$/.test(part)) to[1] = feed;
    else if (part === 'ffn_down') [to[0], to[1]] = [feed, width];
    const elements = to.reduce((all, one) => all * one);
    if (to.length > 1) {
      // Tensors that are F32 in the template (the choice of experts, a short convolution) are F32
      // in every model.
      const wanted = kind === 0 ? formats.F32 : formats[format];
      const chosen = to[0] % wanted.elements === 0 ? wanted : formats.F16;
      const large = part === 'token_embd' || part === 'output' ? 5 : 1.5;
      rows.push([tensor, to, chosen.number, tensorOf(chosen, elements, large / Math.sqrt(to[0]), random)]);
    } else {
      // Norms are about 1, decays are negative, biases and other vectors are about 0.
      const middle = /norm$/.test(part) ? 1 : part === 'ssm_a' ? -1 : 0;
      const out = Buffer.alloc(elements * 4);
      for (let i = 0; i < elements; ++i) out.writeFloatLE(middle + normal(random) * 0.1, i * 4);
      rows.push([tensor, to, 0, out]);
    }
  }

  const bytesOfHead = [Buffer.from('GGUF'), u32Bytes(3), u64Bytes(rows.length), u64Bytes(metadata.length)];
  for (const [key, type, bytes] of metadata) {
    const own = key.startsWith(`${name}.`) ? changed[key.slice(name.length + 1)] : undefined;
    bytesOfHead.push(textBytes(key), u32Bytes(type), own === undefined ? bytes : u32Bytes(own));
  }
  let offset = 0;
  const data = [];
  for (const [tensor, shape, kind, bytes] of rows) {
    bytesOfHead.push(textBytes(tensor), u32Bytes(shape.length), ...shape.map(u64Bytes), u32Bytes(kind), u64Bytes(offset));
    data.push(padded(bytes));
    offset += data.at(-1).length;
  }
  return Buffer.concat([padded(Buffer.concat(bytesOfHead)), ...data]);
}
