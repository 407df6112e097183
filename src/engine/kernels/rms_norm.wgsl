@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(3) var<storage, read> selected: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  var row = group.x;
  if (SELECT) { row = selected[row]; }
  let first = row * QUARTERS;
  var squares = 0.0;
  for (var i = index; i < QUARTERS; i += WORKGROUP) { squares += dot(x[first + i], x[first + i]); }
  let scale = inverseSqrt(workgroup_sum(squares, index) / f32(QUARTERS * 4u) + EPSILON);
  for (var i = index; i < QUARTERS; i += WORKGROUP) {
    let value = x[first + i] * scale * weight[i];
    if (ACCUMULATE) { out[group.x * QUARTERS + i] += value; } else { out[group.x * QUARTERS + i] = value; }
  }
}
