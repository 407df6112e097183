@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> out_scales: array<vec2f>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(global_invocation_id) id: vec3u) {
  let block = id.x;
  if (block >= BLOCKS) { return; }
  var v: array<vec4f, 8>;
  for (var i = 0u; i < 8u; i++) { v[i] = x[group.y * PITCH + block * 8u + i]; }
  let made = quantize_block(v);
  let to = (group.y * BLOCKS + block) * 2u;
  out_quants[to] = made.low;
  out_quants[to + 1u] = made.high;
  out_scales[to] = made.low_scale;
  out_scales[to + 1u] = made.high_scale;
}
