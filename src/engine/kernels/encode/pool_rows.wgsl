@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> segments: array<vec4u>;  // slot, first row, rows
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn pooled(segment: vec4u, i: u32) -> vec4f {
  if (!MEAN) { return x[(segment.y + select(0u, segment.z - 1u, LAST)) * QUARTERS + i]; }
  var sum = vec4f();
  for (var row = 0u; row < segment.z; row++) { sum += x[(segment.y + row) * QUARTERS + i]; }
  return sum / f32(segment.z);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let segment = segments[group.x];
  var squares = 0.0;
  for (var i = index; i < QUARTERS; i += WORKGROUP) {
    let four = pooled(segment, i);
    out[group.x * QUARTERS + i] = four;
    squares += dot(four, four);
  }
  let sum = workgroup_sum(squares, index);
  let scale = select(0.0, inverseSqrt(sum), sum > 0.0);
  // The thread's own numbers.
  for (var i = index; i < QUARTERS; i += WORKGROUP) { out[group.x * QUARTERS + i] *= scale; }
}
