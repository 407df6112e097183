// A row for every workgroup: rounded as a product rounds it that norms by itself, and kept with the norm's factor.
@group(0) @binding(0) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> out_scales: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> out_factors: array<f32>;
var<private> first_row: u32;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  first_row = group.x;
  prepare(index, team, lane);
  for (var i = index; i < LANES; i += WORKGROUP) {
    out_quants[first_row * LANES + i] = x16(0u, i);
    out_scales[first_row * LANES + i] = x_scale(0u, i);
  }
  if (index == 0u) { out_factors[first_row] = row_factor(0u); }
}
