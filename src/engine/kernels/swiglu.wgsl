@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(global_invocation_id) id: vec3u) {
  if (id.x >= QUARTERS) { return; }
  let first = x[group.y * 2u * QUARTERS + id.x];
  let up = x[group.y * 2u * QUARTERS + QUARTERS + id.x];
  out[group.y * QUARTERS + id.x] = gate4(first) * up;
}
