@group(0) @binding(0) var<storage, read> quants: array<vec2u>;  // nibbles, 16 a lane
@group(0) @binding(1) var<storage, read> scales: array<u32>;    // f16 scale and minimum for 32 weights
fn low(word: u32) -> vec4f { return vec4f((vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(15u)); }
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let q = quants[row * LANES + lane];
  let s = unpack2x16float(scales[row * (LANES / 2u) + lane / 2u]);
  return array<vec4f, 4>(s.x * low(q.x) + s.y, s.x * low(q.x >> 4u) + s.y, s.x * low(q.y) + s.y, s.x * low(q.y >> 4u) + s.y);
}
