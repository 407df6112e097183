// Makes a model of any width for measurements of speed. It has random weights, and the tokenizer of
// a given small model:
//   node bench/wide_model.mjs tests/data/tiny/tiny-llama-chat-q8_0.gguf /tmp/wide.gguf [layers 12] [embedding 1024]
// It reads a GGUF v3 file of the llama architecture, keeps the metadata except the shape, and
// writes the tensors as Q8_0 and the norms as F32.
import fs from 'node:fs';

const [from, to, layers = 12, embedding = 1024] = process.argv.slice(2).map((value, i) => (i < 2 ? value : Number(value)));
if (to === undefined || embedding % 64 !== 0) throw new Error('node bench/wide_model.mjs FROM TO [LAYERS] [EMBEDDING, a multiple of 64]');
const file = fs.readFileSync(from);
let at = 8;
const u64 = () => { at += 8; return Number(file.readBigUInt64LE(at - 8)); };
const u32 = () => { at += 4; return file.readUInt32LE(at - 4); };
const text = () => { const size = u64(); at += size; return file.toString('utf8', at - size, at); };
const scalarBytes = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
function skip(type) {
  if (type === 8) text();
  else if (type === 9) {
    const inner = u32();
    const count = u64();
    for (let i = 0; i < count; ++i) skip(inner);
  } else at += scalarBytes[type];
}
const tensorCount = u64();
const keyCount = u64();
const keys = new Map();
for (let i = 0; i < keyCount; ++i) {
  const begin = at;
  const key = text();
  const type = u32();
  const valueAt = at;
  skip(type);
  keys.set(key, { type, value: file.subarray(valueAt, at), whole: file.subarray(begin, at) });
}
let vocabulary = 0;
for (let i = 0; i < tensorCount; ++i) {
  const name = text();
  const shape = Array.from({ length: u32() }, u64);
  if (name === 'token_embd.weight') vocabulary = shape[1];
  at += 12;
}

const headSize = 64;
const heads = embedding / headSize;
const hidden = Math.ceil((embedding * 8) / 3 / 256) * 256;
const shape = {
  'llama.block_count': layers,
  'llama.embedding_length': embedding,
  'llama.feed_forward_length': hidden,
  'llama.attention.head_count': heads,
  'llama.attention.head_count_kv': heads,
  'llama.attention.key_length': headSize,
  'llama.attention.value_length': headSize,
  'llama.rope.dimension_count': headSize,
  'llama.context_length': 4096,
};
const words = (value) => { const out = Buffer.alloc(8); out.writeBigUInt64LE(BigInt(value)); return out; };
const word = (value) => { const out = Buffer.alloc(4); out.writeUInt32LE(value); return out; };
const string = (value) => Buffer.concat([words(Buffer.byteLength(value)), Buffer.from(value)]);
for (const [key, value] of Object.entries(shape)) {
  if (keys.has(key) || !/length$|dimension/.test(key)) keys.set(key, { whole: Buffer.concat([string(key), word(4), word(value)]) });
}

const q8 = 8;
const f32 = 0;
const tensors = [['token_embd.weight', [embedding, vocabulary], q8]];
for (let i = 0; i < layers; ++i) {
  tensors.push([`blk.${i}.attn_norm.weight`, [embedding], f32]);
  for (const name of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) tensors.push([`blk.${i}.${name}.weight`, [embedding, embedding], q8]);
  tensors.push([`blk.${i}.ffn_norm.weight`, [embedding], f32]);
  for (const name of ['ffn_gate', 'ffn_up']) tensors.push([`blk.${i}.${name}.weight`, [embedding, hidden], q8]);
  tensors.push([`blk.${i}.ffn_down.weight`, [hidden, embedding], q8]);
}
tensors.push(['output_norm.weight', [embedding], f32], ['output.weight', [embedding, vocabulary], q8]);
const bytesOf = (dims, type) => (type === f32 ? 4 : 34 / 32) * dims.reduce((a, b) => a * b, 1);

const alignment = 32;
const header = [Buffer.from('GGUF'), word(3), words(tensors.length), words(keys.size), ...[...keys.values()].map(({ whole }) => whole)];
let offset = 0;
for (const [name, dims, type] of tensors) {
  header.push(string(name), word(dims.length), ...dims.map(words), word(type), words(offset));
  offset += Math.ceil(bytesOf(dims, type) / alignment) * alignment;
}
const out = fs.openSync(to, 'w');
const head = Buffer.concat(header);
fs.writeSync(out, Buffer.concat([head, Buffer.alloc((alignment - (head.length % alignment)) % alignment)]));
let seed = 1;
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
// One pattern, repeated, so that the file compresses well. Scale 2^-11 in f16, numbers of -64 to
// 63.
const pattern = Buffer.alloc(34 * 509);
for (let block = 0; block < pattern.length; block += 34) {
  pattern.writeUInt16LE(0x1000, block);
  for (let i = 2; i < 34; ++i) pattern.writeInt8(Math.floor(random() * 128) - 64, block + i);
}
for (const [, dims, type] of tensors) {
  const size = bytesOf(dims, type);
  const bytes = Buffer.alloc(Math.ceil(size / alignment) * alignment);
  if (type === f32) for (let i = 0; i < dims[0]; ++i) bytes.writeFloatLE(1, 4 * i);
  else bytes.fill(pattern, 0, size);
  fs.writeSync(out, bytes);
}
fs.closeSync(out);
console.log(`${to}: ${layers} layers of ${embedding}, ${(fs.statSync(to).size / 2 ** 20).toFixed(0)} MiB`);
