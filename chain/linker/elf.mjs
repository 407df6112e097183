// Reads one relocatable ELF64 object for BPF: its sections, symbols and relocations. Every offset is checked against the file.

export class LinkError extends Error {}

const cut = (bytes, at, size, what) => {
  if (!Number.isSafeInteger(at) || at < 0 || size < 0 || at + size > bytes.length) throw new LinkError(`${what} lies past the end of the object (${bytes.length} bytes).`);
  return bytes.subarray(at, at + size);
};
const u64 = (bytes, at) => Number(bytes.readBigUInt64LE(at));

function text(bytes, at) {
  const end = bytes.indexOf(0, at);
  if (at >= bytes.length || end < 0) throw new LinkError('A name lies past the end of its string table.');
  return bytes.toString('latin1', at, end);
}

export function readObject(bytes) {
  const head = cut(bytes, 0, 64, 'The header');
  if (head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2 || head[5] !== 1) throw new LinkError('This is no little-endian ELF64 file.');
  if (head.readUInt16LE(16) !== 1 || head.readUInt16LE(18) !== 247) throw new LinkError('This is no relocatable BPF object: compile with clang -target bpf -c.');
  const start = u64(head, 40), count = head.readUInt16LE(60), names = head.readUInt16LE(62);
  if (head.readUInt16LE(58) !== 64) throw new LinkError('Section headers are not 64 bytes long.');
  const sections = [];
  for (let i = 0; i < count; ++i) {
    const row = cut(bytes, start + i * 64, 64, `Section header ${i}`);
    const section = { nameAt: row.readUInt32LE(0), type: row.readUInt32LE(4), flags: u64(row, 8), size: u64(row, 32), link: row.readUInt32LE(40), info: row.readUInt32LE(44), align: Math.max(1, u64(row, 48)) };
    section.data = section.type === 8 ? Buffer.alloc(0) : cut(bytes, u64(row, 24), section.size, `Section ${i}`);
    sections.push(section);
  }
  if (!sections[names]) throw new LinkError('The object has no table of section names.');
  for (const section of sections) section.name = text(sections[names].data, section.nameAt);
  const table = sections.find(({ type }) => type === 2);
  if (!table || !sections[table.link]) throw new LinkError('The object has no symbols.');
  const symbols = [];
  for (let at = 0; at + 24 <= table.data.length; at += 24)
    symbols.push({ name: text(sections[table.link].data, table.data.readUInt32LE(at)), section: table.data.readUInt16LE(at + 6), value: u64(table.data, at + 8) });
  const relocations = [];
  for (const section of sections.filter(({ type }) => type === 9))
    for (let at = 0; at + 16 <= section.data.length; at += 16) {
      const info = section.data.readBigUInt64LE(at + 8);
      const symbol = symbols[Number(info >> 32n)];
      if (!symbol) throw new LinkError(`${section.name} names a symbol that does not exist.`);
      relocations.push({ target: section.info, at: u64(section.data, at), type: Number(info & 0xffffffffn), symbol, in: section.name });
    }
  return { sections, symbols, relocations };
}
