// Compares answers of language models with the expected ones.
import assert from 'node:assert/strict';

/**
 * Compares an answer with the expected one. The tokens must be equal if the best two candidates are more than 0.05 apart, and log-probabilities
 * must be within 0.01 while the texts agree. `pieces`: the answer of a tab, [{ token, top: [{ token, logprob }] }]. `wanted`:
 * { tokens: [{ id, top: [[id, logprob]] }] }, in the form of the files of tests/data/tiny/expected and of `weft generate --json`. Returns the number
 * of compared tokens.
 */
export function agree(pieces, wanted, what) {
  let compared = 0;
  for (const [i, token] of wanted.tokens.entries()) {
    const piece = pieces[i];
    if (piece === undefined) break;  // The tab was asked for no more tokens.
    const found = new Map(piece.top.map(({ token: id, logprob }) => [id, logprob]));
    for (const [id, logprob] of token.top) {
      if (logprob < -12) continue;  // Tokens that are this improbable may be absent.
      assert.ok(found.has(id), `${what}, token ${i}: candidate ${id} is missing`);
      assert.ok(Math.abs(found.get(id) - logprob) < 0.01, `${what}, token ${i}: candidate ${id} has ${found.get(id)}, not ${logprob}`);
    }
    compared += 1;
    if (piece.token === token.id) continue;
    const gap = token.top[0][1] - token.top[1][1];
    assert.ok(gap <= 0.05, `${what}: token ${i} is ${piece.token}, not ${token.id}`);
    break;  // The texts differ from this token on.
  }
  return compared;
}
