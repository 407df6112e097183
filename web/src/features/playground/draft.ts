// The program that the visitor writes, stored for the next visit. It is checked like a link when it is read, because any script of this
// origin may write to the storage.
import type { Program } from './program';
import { readProgram } from './share';

const key = 'weft-playground';
const charactersMax = 1_000_000;

export function keptDraft(): Program | null {
  try {
    const kept = localStorage.getItem(key);
    return kept === null ? null : readProgram(JSON.parse(kept));
  } catch {
    return null;
  }
}

export function keepDraft(program: Program): void {
  try {
    const text = JSON.stringify(program);
    if (text.length <= charactersMax) localStorage.setItem(key, text);
  } catch {
    // Without storage the program lasts until the page is closed.
  }
}
