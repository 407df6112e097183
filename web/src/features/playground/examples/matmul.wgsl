// C = A * B in integers that wrap, 256 x 256. A workgroup computes one row of C with as many invocations as the
// override `lanes` says; which number is fastest is this machine's own business, and the tuner finds it.

struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> c: array<i32>;  // this task's rows

override lanes: u32 = 64;
const side = 256u;

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.x + weft.origin.x / lanes;
  for (var column = lane; column < side; column += lanes) {
    var sum = 0;
    for (var i = 0u; i < side; i++) { sum += a[row * side + i] * b[i * side + column]; }
    c[group.x * side + column] = sum;
  }
}
