// How many seconds of processors process trees use, by looking at /proc now and then: what waiting for children tells misses
// processes that outlive their parent, such as those of a browser that was ended. Without /proc there is nothing to see: 0.
import fs from 'node:fs';

const ticks = 100; // Linux counts in hundredths of a second.

/** Every process: its parent, when it began, seconds of processors. */
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
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');  // The name before it may have spaces.
      found.set(Number(name), { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / ticks, began: fields[19] });
    } catch { /* It has just ended. */ }
  }
  return found;
}

export class ProcessTimes {
  #roots = new Map(); // Process to its tree: began and seconds by process.

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

  /** The seconds of a tree, which is forgotten. */
  end(root) {
    const seconds = [...(this.#roots.get(root)?.values() ?? [])].reduce((sum, one) => sum + one.seconds, 0);
    this.#roots.delete(root);
    return seconds;
  }
}
