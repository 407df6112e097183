// Encodes instructions and reads accounts of the program, as chain/layout.mjs describes them.
import * as layout from '../layout.mjs';

const writers = {
  u8: (b, v, at) => b.writeUInt8(Number(v), at), u16: (b, v, at) => b.writeUInt16LE(Number(v), at), u32: (b, v, at) => b.writeUInt32LE(Number(v), at),
  u48: (b, v, at) => b.writeUIntLE(Number(v), at, 6), u64: (b, v, at) => b.writeBigUInt64LE(BigInt.asUintN(64, BigInt(v)), at), key: (b, v, at) => Buffer.from(v).copy(b, at, 0, 32),
};
const readers = {
  u8: (b, at) => b.readUInt8(at), u16: (b, at) => b.readUInt16LE(at), u32: (b, at) => b.readUInt32LE(at), u48: (b, at) => b.readUIntLE(at, 6),
  u64: (b, at) => b.readBigUInt64LE(at), key: (b, at) => Buffer.from(b.subarray(at, at + 32)),
};

export function place(fields, name) {
  let at = 0;
  for (const field of fields) { if (field[0] === name) return { at, type: field[1], count: field[2] }; at += layout.widthOf(field); }
  throw new Error(`no field ${name}`);
}
export function encode(fields, values) {
  const out = Buffer.alloc(layout.lengthOf(fields));
  let at = 0;
  for (const field of fields) {
    const [name, type, count] = field;
    const list = count === undefined ? [values[name]] : values[name] ?? [];
    list.forEach((value, i) => { if (value !== undefined) writers[type](out, value, at + i * layout.sizes[type]); });
    at += layout.widthOf(field);
  }
  return out;
}
export function decode(fields, data, from = 0) {
  const out = {};
  let at = from;
  for (const field of fields) {
    const [name, type, count] = field;
    const one = (where) => (readers[type] ? readers[type](data, where) : decode(layout.records[type].fields, data, where));
    out[name] = count === undefined ? one(at) : Array.from({ length: count }, (_, i) => one(at + (i * layout.widthOf(field)) / count));
    at += layout.widthOf(field);
  }
  return out;
}
// Writes fields of an account of the program in place; 'epochs.3.state' reaches into the ring.
export function write(kind, data, changes) {
  for (const [name, value] of Object.entries(changes)) {
    let fields = layout.accounts[kind].fields, base = 0;
    const steps = name.split('.');
    if (steps.length === 3) {
      const whole = place(fields, steps[0]);
      fields = layout.records[whole.type].fields;
      base = whole.at + Number(steps[1]) * layout.lengthOf(fields);
    }
    const { at, type } = place(fields, steps.at(-1));
    writers[type](data, value, base + at);
  }
}
export const writeData = (name, data, field, value) => { const { at, type } = place(layout.instructions[name].data, field); writers[type](data, value, at); };

// A call that tests change piece by piece before it becomes an instruction: { name, accounts: [{ name, key, signer, writable }], data }.
export function call(name, keys, values = {}, tail = []) {
  const spec = layout.instructions[name];
  const accounts = spec.accounts.map(([account, flags, , more = {}]) => {
    if (!keys[account]) throw new Error(`${name} wants ${account}`);
    return { name: account, key: keys[account], signer: flags.includes('s'), writable: flags.includes('w') || !!more.writable };
  });
  return { name, accounts, data: Buffer.concat([encode(spec.data, { tag: spec.tag, ...values }), ...tail]) };
}
export const instruction = (program, one) => ({ program, accounts: one.accounts, data: one.data });
