// The tree of an epoch from the rows that its operator publishes (src/common/solana/sum_tree.h): it checks that the rows give the root on
// the chain, and returns the path of an owner.
import { fromBase58, joined, little, same, sha256, type Bytes } from './bytes';

export type Row = { readonly owner: Bytes; readonly index: number; readonly amount: bigint; readonly units: bigint };
type Node = { readonly hash: Bytes; readonly sum: bigint };

/** The most rows, because more take a browser too long; `weft chain claim` has no such limit. */
export const rowsMax = 200_000;

export function parseRows(csv: string): Row[] {
  const [head = '', ...lines] = csv.trimEnd().split('\n');
  if (!/^owner,index,amount,units(,emission)?$/.test(head)) throw new Error('The rows of the epoch do not have the expected form.');
  if (lines.length > rowsMax) throw new Error(`The epoch has ${lines.length} owners; the page takes ${rowsMax} at most. \`weft chain claim\` takes any number.`);
  return lines.map((line) => {
    const [owner, index, amount, units] = line.split(',');
    if (owner === undefined || index === undefined || amount === undefined || units === undefined || ![index, amount, units].every((word) => /^\d{1,20}$/.test(word)))
      throw new Error('A row of the epoch does not have the expected form.');
    return { owner: fromBase58(owner), index: Number(index), amount: BigInt(amount), units: BigInt(units) };
  });
}

const empty: Node = { hash: new Uint8Array(32), sum: 0n };
const leaf = async ({ owner, index, amount, units }: Row): Promise<Node> => ({
  hash: await sha256(new Uint8Array([0]), owner, little(index, 4), little(amount, 8), little(units, 8)),
  sum: amount,
});
const parent = async (left: Node, right: Node): Promise<Node> => ({
  hash: await sha256(new Uint8Array([1]), left.hash, little(left.sum, 8), right.hash, little(right.sum, 8)),
  sum: left.sum + right.sum,
});

export class SumTree {
  private constructor(
    readonly rows: readonly Row[],
    private readonly levels: readonly (readonly Node[])[],
    private readonly empties: readonly Node[],
  ) {}

  /** Makes the tree from rows in the order of the file. */
  static async create(rows: readonly Row[]): Promise<SumTree> {
    let level = await Promise.all(rows.map(leaf));
    if (level.length === 0) level = [empty];
    const levels = [level];
    const empties = [empty];
    while (level.length > 1) {
      const fill = empties[empties.length - 1] ?? empty;
      level = await Promise.all(Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => parent(level[2 * i] ?? fill, level[2 * i + 1] ?? fill)));
      empties.push(await parent(fill, fill));
      levels.push(level);
    }
    return new SumTree(rows, levels, empties);
  }

  get depth(): number {
    return this.levels.length - 1;
  }
  makes(root: Uint8Array, amount: bigint): boolean {
    const top = this.levels[this.depth]?.[0] ?? empty;
    return same(top.hash, root) && top.sum === amount;
  }
  /** Returns the position of an owner's row, or -1 if it has none. */
  position(owner: Uint8Array): number {
    return this.rows.findIndex((row) => same(row.owner, owner));
  }
  /** Returns the path in the program's format: hash and sum of each sibling, from the leaf up. */
  path(position: number): Bytes {
    const parts: Uint8Array[] = [];
    for (let level = 0, at = position; level < this.depth; level += 1, at >>= 1) {
      const node = this.levels[level]?.[at ^ 1] ?? this.empties[level] ?? empty;
      parts.push(node.hash, little(node.sum, 8));
    }
    return joined(...parts);
  }
}
