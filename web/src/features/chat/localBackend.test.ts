// Tests the position of an answer under a roofline: weights are read once for each pass, with two operations for each weight and token.
import { describe, expect, it } from 'vitest';
import { runsOf } from './localBackend';

const info = { parameters: 1000, weightBytes: 1100 };

describe('runsOf', () => {
  it('tells the prompt, read in one pass, from the tokens, drawn one by one', () => {
    expect(runsOf(info, { promptTokens: 20, reusedTokens: 4, tokens: 11, prefillMs: 100, decodeMs: 500 })).toEqual([
      { name: '10 tokens drawn', bytes: 11_000, operations: 20_000, seconds: 0.5, byTimestamps: false },
      { name: '16 tokens of prompt', bytes: 1100, operations: 32_000, seconds: 0.1, byTimestamps: false },
    ]);
  });

  it('leaves out what did not happen', () => {
    expect(runsOf(info, { promptTokens: 20, reusedTokens: 20, tokens: 1, prefillMs: 5, decodeMs: 0 })).toEqual([]);
  });
});
