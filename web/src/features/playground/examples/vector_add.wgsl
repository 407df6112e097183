// The sum of two vectors: every invocation adds one pair.

struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> sum: array<f32>;  // this task's part

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) local: vec3u) {
  let i = local.x + weft.origin.x;
  sum[local.x] = a[i] + b[i];
}
