import { beforeEach, describe, expect, it } from 'vitest';
import { keepDraft, keptDraft } from './draft';
import { examples } from './examples';
import type { Program } from './program';

const program = examples[1]?.program as Program;

beforeEach(() => localStorage.clear());

describe('a draft', () => {
  it('is there at the next visit', () => {
    keepDraft(program);

    expect(keptDraft()).toEqual(program);
  });

  it.each(['', '{', 'null', '{"name":1}'])('that is damaged (%j) is ignored', (text) => {
    localStorage.setItem('weft-playground', text);

    expect(keptDraft()).toBeNull();
  });

  it('that is too large leaves the one before', () => {
    keepDraft(program);
    keepDraft({ ...program, wgsl: '/'.repeat(1_000_001) });

    expect(keptDraft()).toEqual(program);
  });
});
