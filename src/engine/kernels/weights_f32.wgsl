@group(0) @binding(0) var<storage, read> quants: array<vec4f>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let at = (row * LANES + lane) * 4u;
  return array<vec4f, 4>(quants[at], quants[at + 1u], quants[at + 2u], quants[at + 3u]);
}
