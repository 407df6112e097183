// A weaving draft: which thread is on top at every crossing of a cloth. A wallet's address determines its draft, so that its cloth is easy
// to recognise. The structures are those of a real loom with eight shafts: a threading assigns a shaft to each warp end, a treadling
// assigns a treadle to each pick, and the tie-up says which shafts each treadle lifts.

export type Draft = {
  /** The shaft of each warp end, for one repeat. */
  readonly threading: readonly number[];
  /** The treadle of each pick, for one repeat. */
  readonly treadling: readonly number[];
  /** tieUp[treadle][shaft] is true if the treadle lifts the shaft. */
  readonly tieUp: readonly (readonly boolean[])[];
  /** The dye of the weft, 0 to 3. */
  readonly dye: number;
};

const shafts = 8;

// Twills over eight shafts, as the numbers of ends that are over and under in turn. No float is longer than four, because longer floats
// snag.
const twills: readonly (readonly number[])[] = [
  [3, 1, 1, 3],
  [2, 2, 1, 3],
  [2, 1, 2, 3],
  [4, 1, 1, 2],
  [3, 2, 1, 2],
  [1, 1, 3, 3],
];

/** A small random generator with a good spread (mulberry32), so that an address gives the same cloth everywhere. */
function randomFrom(text: string): () => number {
  let state = 0x811c9dc5;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns a random walk over the shafts in straight runs that turn at points, mirrored so that the repeat is symmetric. */
function pointedWalk(random: () => number): number[] {
  const half: number[] = [Math.floor(random() * shafts)];
  const turns = 2 + Math.floor(random() * 2);
  let step = random() < 0.5 ? 1 : -1;
  for (let turn = 0; turn < turns; turn += 1) {
    const run = 4 + Math.floor(random() * 6);
    for (let i = 0; i < run; i += 1) half.push(((half.at(-1) ?? 0) + step + shafts) % shafts);
    step = -step;
  }
  return [...half, ...half.slice(1, -1).reverse()];
}

export function draftFor(address: string): Draft {
  const random = randomFrom(address);
  const twill = twills[Math.floor(random() * twills.length)] ?? [];
  const lifted = twill.flatMap((length, index) => Array<boolean>(length).fill(index % 2 === 0));
  const tieUp = Array.from({ length: shafts }, (_, treadle) =>
    Array.from({ length: shafts }, (__, shaft) => lifted[(shaft - treadle + shafts) % shafts] ?? false),
  );
  const threading = pointedWalk(random);
  // The treadling is that of the threading ("as drawn in"), which makes the motif square.
  const treadling = threading;
  return { threading, treadling, tieUp, dye: Math.floor(random() * 4) };
}

/** True if the warp is on top at this crossing. */
export function warpIsUp(draft: Draft, end: number, pick: number): boolean {
  const shaft = draft.threading[end % draft.threading.length] ?? 0;
  const treadle = draft.treadling[pick % draft.treadling.length] ?? 0;
  return draft.tieUp[treadle]?.[shaft] ?? false;
}

/** Returns the runs [from, to) of true in `flags`. */
export function runs(flags: readonly boolean[]): [number, number][] {
  const found: [number, number][] = [];
  let from = -1;
  for (let i = 0; i <= flags.length; i += 1) {
    if (flags[i] === true) {
      if (from < 0) from = i;
    } else if (from >= 0) {
      found.push([from, i]);
      from = -1;
    }
  }
  return found;
}
