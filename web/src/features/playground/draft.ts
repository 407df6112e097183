// The program that the visitor writes, stored for the next visit. When it is read, it is checked as a program from a link is, because any
// script of this origin may write to the storage.
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
    // If there is no storage, the program lasts until the page is closed.
  }
}
