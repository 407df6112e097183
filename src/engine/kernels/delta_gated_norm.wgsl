@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gates: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let start = (group.y * HEADS + group.x) * DIM;
  var squares = 0.0;
  for (var i = index; i < DIM; i += WORKGROUP) { squares += x[start + i] * x[start + i]; }
  let scale = inverseSqrt(workgroup_sum(squares, index) / f32(DIM) + EPSILON);
  for (var i = index; i < DIM; i += WORKGROUP) {
    let gate = gates[group.y * PITCH + OFFSET + group.x * DIM + i];
    out[start + i] = x[start + i] * scale * weight[i] * gate / (1.0 + exp(-gate));
  }
}
