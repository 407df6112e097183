// The sum tree of an epoch in plain code; src/common/solana has the fast version.
import { sha256 } from './wire.mjs';

const u32 = (v) => { const b = Buffer.alloc(4); b.writeUInt32LE(v); return b; };
const u64 = (v) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(v)); return b; };
export const empty = { hash: Buffer.alloc(32), sum: 0n };
export const leaf = ({ owner, index, amount, units }) => ({ hash: sha256(Buffer.from([0]), owner, u32(index), u64(amount), u64(units)), sum: BigInt(amount) });
export const parent = (left, right) => ({ hash: sha256(Buffer.from([1]), left.hash, u64(left.sum), right.hash, u64(right.sum)), sum: left.sum + right.sum });
export const nodeBytes = ({ hash, sum }) => Buffer.concat([hash, u64(sum)]);

export class Tree {
  // owners: [{ owner, index, amount, units }] in any order; `sorted: false` keeps the order, as a dishonest operator may.
  // inflate: { level, position, by } adds to a node's sum, as a dishonest operator may.
  constructor(owners, { sorted = true, depth, inflate } = {}) {
    this.owners = sorted ? [...owners].sort((a, b) => Buffer.compare(a.owner, b.owner)) : [...owners];
    this.depth = depth ?? Math.ceil(Math.log2(Math.max(1, owners.length)));
    let level = this.owners.map((owner) => (owner ? leaf(owner) : empty));
    while (level.length < 2 ** this.depth) level.push(empty);
    this.levels = [level];
    while (level.length > 1) {
      const up = [];
      for (let i = 0; i < level.length; i += 2) up.push(parent(level[i], level[i + 1]));
      if (inflate?.level === this.levels.length) up[inflate.position].sum += inflate.by;
      this.levels.push((level = up));
    }
    [this.root] = level;
    this.units = this.owners.reduce((sum, one) => sum + BigInt(one?.units ?? 0), 0n);
  }
  position(owner) { return this.owners.findIndex((one) => one && one.owner.equals(owner)); }
  path(position) { const out = []; for (let i = 0; i < this.depth; ++i) { out.push(nodeBytes(this.levels[i][position ^ 1])); position >>= 1; } return out; }
}
