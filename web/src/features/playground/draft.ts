// The program being written, kept for the next visit. It is checked like a link when it is read: any script of this origin may write to storage.
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
    // Without storage the program lasts as long as the page.
  }
}
