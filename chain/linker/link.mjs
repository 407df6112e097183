#!/usr/bin/env node
// Makes a program for the Solana virtual machine (SBPFv3) from one BPF object: node
// chain/linker/link.mjs OBJECT PROGRAM.
//
// The program is an ELF64 file with a header, two program headers and their bytes: read-only
// constants at address 0, and executable code at 2^32. Calls of undefined names are system calls,
// which are identified by the murmur3 hash of the name. The bytes depend only on the object. The
// linker refuses writable data, zero-initialised data, relocations that are not named here, and a
// missing entrypoint.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LinkError, readObject } from './elf.mjs';

const code_address = 2 ** 32;
const relocation = { address: 1, address_in_data: 2, call: 10 };

// MurmurHash3, 32 bits, seed 0, by Austin Appleby (public domain): the machine's name for a system
// call.
export function murmur3(name) {
  const bytes = Buffer.from(name, 'latin1');
  const rotl = (x, n) => (x << n) | (x >>> (32 - n));
  let h = 0, i = 0;
  for (; i + 4 <= bytes.length; i += 4) {
    const k = Math.imul(rotl(Math.imul(bytes.readInt32LE(i), 0xcc9e2d51), 15), 0x1b873593);
    h = (Math.imul(rotl(h ^ k, 13), 5) + 0xe6546b64) | 0;
  }
  let k = 0;
  for (let j = bytes.length - 1; j >= i; --j) k = (k << 8) | bytes[j];
  if (i < bytes.length) h ^= Math.imul(rotl(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593);
  h ^= bytes.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

// The address of each section in the machine's memory. The first eight bytes stay empty, so that no
// constant has the address 0.
function place(sections) {
  const base = new Map();
  let code = -1, constants = Buffer.alloc(8);
  sections.forEach((section, i) => {
    if (!(section.flags & 2) || section.size === 0) return;
    if (section.flags & 4) {
      if (code >= 0) throw new LinkError(`A second section of code (${section.name}): make every function of the program static.`);
      code = i;
      base.set(i, code_address);
      return;
    }
    if (section.flags & 1 || section.type === 8) throw new LinkError(`Writable data (${section.name}): the machine has none; make it const.`);
    constants = Buffer.concat([constants, Buffer.alloc((section.align - (constants.length % section.align)) % section.align)]);
    base.set(i, constants.length);
    constants = Buffer.concat([constants, section.data]);
  });
  if (code < 0) throw new LinkError('The object has no code.');
  constants = Buffer.concat([constants, Buffer.alloc((8 - (constants.length % 8)) % 8)]);
  return { base, code, constants };
}

export function link(bytes) {
  const { sections, symbols, relocations } = readObject(bytes);
  const { base, code, constants } = place(sections);
  const text = Buffer.from(sections[code].data);
  if (text.length % 8) throw new LinkError('The code is not a whole number of instructions.');
  const syscalls = new Set();
  for (const { target, at, type, symbol, in: where } of relocations) {
    if (!base.has(target)) continue;
    const fits = (buffer, size) => { if (at + size > buffer.length) throw new LinkError(`A relocation of ${where} lies outside its section.`); };
    const address = () => {
      if (!base.has(symbol.section)) throw new LinkError(`'${symbol.name}' has no address: only functions may be undefined.`);
      return BigInt(base.get(symbol.section)) + BigInt(symbol.value);
    };
    if (target === code && type === relocation.address) {
      fits(text, 16);
      const value = address() + ((BigInt(text.readUInt32LE(at + 12)) << 32n) | BigInt(text.readUInt32LE(at + 4)));
      text.writeUInt32LE(Number(value & 0xffffffffn), at + 4);
      text.writeUInt32LE(Number((value >> 32n) & 0xffffffffn), at + 12);
    } else if (target === code && type === relocation.call) {
      fits(text, 8);
      if (symbol.section === 0) {
        syscalls.add(symbol.name);
        text[at + 1] &= 0x0f;
        text.writeUInt32LE(murmur3(symbol.name), at + 4);
      } else {
        if (symbol.section !== code) throw new LinkError(`'${symbol.name}' is called and is not code.`);
        text[at + 1] = (text[at + 1] & 0x0f) | 0x10;
        text.writeInt32LE((symbol.value + (text.readInt32LE(at + 4) + 1) * 8 - at - 8) / 8, at + 4);
      }
    } else if (target !== code && type === relocation.address_in_data) {
      const to = base.get(target) + at;
      if (to + 8 > constants.length) throw new LinkError(`A relocation of ${where} lies outside its section.`);
      constants.writeBigUInt64LE(address() + constants.readBigUInt64LE(to), to);
    } else throw new LinkError(`Relocation ${type} in ${where} is not one that this linker knows.`);
  }
  const entry = symbols.find(({ name, section }) => name === 'entrypoint' && section === code);
  if (!entry) throw new LinkError("The object defines no function 'entrypoint'.");

  const parts = constants.length > 8 ? [[4, 0, constants]] : [];
  parts.push([1, code_address, text]);
  const head = Buffer.alloc(64 + 56 * parts.length);
  head.write('\x7fELF\x02\x01\x01', 'latin1');
  head.writeUInt16LE(3, 16);
  head.writeUInt16LE(247, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(code_address + entry.value), 24);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt32LE(3, 48); // The machine's version 3.
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(parts.length, 56);
  head.writeUInt16LE(64, 58);
  let offset = head.length;
  parts.forEach(([flags, address, data], i) => {
    const at = 64 + 56 * i;
    head.writeUInt32LE(1, at);
    head.writeUInt32LE(flags, at + 4);
    [offset, address, address, data.length, data.length].forEach((value, j) => head.writeBigUInt64LE(BigInt(value), at + 8 + 8 * j));
    offset += data.length;
  });
  return { program: Buffer.concat([head, ...parts.map(([, , data]) => data)]), instructions: text.length / 8, constants: constants.length, syscalls: [...syscalls].sort() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [object, program] = process.argv.slice(2);
  if (!object || !program) { console.error('Usage: node chain/linker/link.mjs OBJECT PROGRAM'); process.exit(2); }
  try {
    const out = link(fs.readFileSync(object));
    fs.writeFileSync(program, out.program);
    console.log(`${program}: ${out.program.length} bytes, ${out.instructions} instructions, ${out.constants} bytes of constants, calls ${out.syscalls.join(' ')}`);
  } catch (error) {
    if (!(error instanceof LinkError) && error.code !== 'ENOENT') throw error;
    console.error(`${object} cannot be linked: ${error.message}`);
    process.exit(1);
  }
}
