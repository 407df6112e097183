@group(0) @binding(0) var<storage, read> quants: array<vec2u>;  // nibbles, 16 a lane
@group(0) @binding(1) var<storage, read> scales: array<u32>;    // pairs of f16, one for 32 weights
fn low(word: u32) -> vec4f { return vec4f((vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(15u)); }
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let q = quants[row * LANES + lane];
  let pair = unpack2x16float(scales[row * ((LANES + 3u) / 4u) + lane / 4u]);
  let scale = select(pair.x, pair.y, (lane & 2u) != 0u);
  return array<vec4f, 4>(scale * (low(q.x) - 8.0), scale * (low(q.x >> 4u) - 8.0), scale * (low(q.y) - 8.0), scale * (low(q.y >> 4u) - 8.0));
}
