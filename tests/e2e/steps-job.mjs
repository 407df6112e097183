// A job of eight steps that cannot be cut: each word goes through `rounds` rounds of a linear
// congruence in each step, which JavaScript computes by squaring.
export const steps = 8;
const multiplier = 1664525;
const increment = 1013904223;
const rounds = 200_000;

/** The effect of all rounds of a step on a word: [a, b] for word * a + b. */
const [factor, summand] = (() => {
  let [a, b, baseA, baseB] = [1, 0, multiplier, increment];
  for (let left = rounds; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) [a, b] = [Math.imul(a, baseA), (Math.imul(b, baseA) + baseB) | 0];
    [baseA, baseB] = [Math.imul(baseA, baseA), (Math.imul(baseB, baseA) + baseB) | 0];
  }
  return [a, b];
})();

/** The words after a step. All steps do the same. */
export const after = (words) => words.map((word, i) => (Math.imul((word + i + 1) | 0, factor) + summand) >>> 0);
export const bytesOf = (words) => Buffer.from(Uint32Array.from(words).buffer);

export const stepsJob = () => ({
  weft: 1, kind: 'wgsl', name: 'steps', budget: 100_000, deadline_s: 600, verify: { compare: 'exact', replicas: 1, audit: 0 },
  shader: { inline: `
@group(0) @binding(0) var<storage, read_write> state: array<u32>;
override rounds: u32 = 64;
@compute @workgroup_size(64)
fn mix(@builtin(global_invocation_id) id: vec3u) {
  var word = state[id.x] + id.x + 1u;
  for (var round = 0u; round < rounds; round += 1u) { word = word * ${multiplier}u + ${increment}u; }
  state[id.x] = word;
}` },
  constants: { rounds },
  bindings: [{ binding: 0, role: 'inout', type: 'u32', shape: [64] }],
  steps: Array.from({ length: steps }, () => ({ entry: 'mix', dispatch: [1, 1, 1] })),
});
stepsJob.bytes = () => bytesOf(Array.from({ length: steps }).reduce((words) => after(words), Array(64).fill(0)));
