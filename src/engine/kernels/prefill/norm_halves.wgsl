@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2u>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let first = group.x * QUARTERS;
  var squares = 0.0;
  for (var i = index; i < QUARTERS; i += WORKGROUP) {
    let four = whole(group.x, i);
    squares += dot(four, four);
  }
  let scale = inverseSqrt(workgroup_sum(squares, index) / f32(QUARTERS * 4u) + EPSILON);
  for (var i = index; i < QUARTERS; i += WORKGROUP) {
    out[first + i] = bitcast<vec2u>(vec4<f16>(clamp(x[first + i] * scale * weight[i], vec4f(-65504.0), vec4f(65504.0))));
  }
}
