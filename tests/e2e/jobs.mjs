// Small jobs for the end-to-end tests. They compute only integers, so that every device gives the
// same bytes.
import fs from 'node:fs';
import path from 'node:path';

export const hashShader = `
struct Weft { origin: vec3u, extent: vec3u }
@group(0) @binding(0) var<storage, read_write> result: array<u32>;
@group(1) @binding(0) var<uniform> weft: Weft;
override rounds: u32 = 64;
const width = 64u;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var word = (weft.origin.y + id.y) * width + id.x + 1u;
  for (var round = 0u; round < rounds; round += 1u) {
    word ^= word << 13u;
    word ^= word >> 17u;
    word ^= word << 5u;
  }
  result[id.y * width + id.x] = word;
}
`;

/** A picture of hashes, 64 wide and 128 high, cut into `tasks` along y. */
export const hashJob = ({ tasks = 8, rounds = 64, name = 'hashes', ...rest } = {}) => ({
  weft: 1,
  kind: 'wgsl',
  name,
  shader: { inline: hashShader },
  entry: 'main',
  constants: { rounds },
  bindings: [{ binding: 0, role: 'output', type: 'u32', shape: [128, 64], split_dim: 0 }],
  dispatch: [8, 16, 1],
  split: { axis: 'y', tasks },
  verify: { compare: 'exact', replicas: 1, audit: 0 },
  priority: 50,
  deadline_s: 120,
  budget: 1000,
  ...rest,
});

/** An integer matrix product, which the CPU kernels run too. */
export const matrixJob = ({ m = 24, n = 16, k = 32, ...rest } = {}) => ({
  weft: 1,
  kind: 'kernel',
  kernel: 'matmul_i8',
  name: 'matrix',
  m,
  n,
  k,
  a: { value: Array.from({ length: m * k }, (_, i) => ((i * 37) % 255) - 127) },
  b: { value: Array.from({ length: k * n }, (_, i) => ((i * 91) % 255) - 127) },
  budget: 1000,
  ...rest,
});

export function writeJob(folder, manifest) {
  const file = path.join(folder, `${manifest.name}.json`);
  fs.writeFileSync(file, JSON.stringify(manifest));
  return file;
}

/** All output files of a folder, by name. */
export function outputs(folder) {
  return Object.fromEntries(
    fs.readdirSync(folder).sort().filter((name) => !name.endsWith('.json')).map((name) => [name, fs.readFileSync(path.join(folder, name))]),
  );
}
