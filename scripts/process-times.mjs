// Measures the seconds of processor time that process trees use, by reading /proc at intervals. The
// times of waited-for children miss processes that outlive their parent, such as those of a browser
// that was ended. Without /proc the result is 0.
import fs from 'node:fs';

const ticks = 100; // Linux counts in hundredths of a second.

/** Every process: its parent, its start time and its seconds of processor time. */
function processes() {
  const found = new Map();
  let names = [];
  try {
    names = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return found;
  }
  for (const name of names) {
    try {
      const line = fs.readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name before these fields may have spaces.
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
      found.set(Number(name), { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / ticks, began: fields[19] });
    } catch { /* It has just ended. */ }
  }
  return found;
}

export class ProcessTimes {
  #roots = new Map(); // By root process: its start time, and the seconds of each of its processes.

  begin(root) { this.#roots.set(root, new Map()); }

  sample() {
    if (this.#roots.size === 0) return;
    const now = processes();
    for (const [root, tree] of this.#roots) {
      const belongs = (process, { parent, began }) => process === root || tree.get(process)?.began === began || tree.has(parent);
      for (let grown = -1; grown !== tree.size;) {
        grown = tree.size;
        for (const [process, seen] of now) if (belongs(process, seen)) tree.set(process, seen);
      }
    }
  }

  /** Returns the seconds of a tree, and forgets the tree. */
  end(root) {
    const seconds = [...(this.#roots.get(root)?.values() ?? [])].reduce((sum, one) => sum + one.seconds, 0);
    this.#roots.delete(root);
    return seconds;
  }
}
