@group(0) @binding(0) var<storage, read> quants: array<vec2u>;  // nibbles, 16 a lane
@group(0) @binding(1) var<storage, read> scales: array<u32>;
fn low(word: u32) -> vec4f { return vec4f((vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(15u)); }
fn k_scale(row: u32, lane: u32) -> vec2f {
  // Each 256 weights take five words: f16 scale and minimum of all, then a byte each for every 32.
  let at = (row * (LANES / 16u) + lane / 16u) * 5u;
  let block = (lane / 2u) & 7u;
  let both = scales[at + 1u + block / 2u] >> ((block & 1u) * 16u);
  return unpack2x16float(scales[at]) * vec2f(f32(both & 255u), -f32((both >> 8u) & 255u));
}
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let q = quants[row * LANES + lane];
  let s = k_scale(row, lane);
  return array<vec4f, 4>(s.x * low(q.x) + s.y, s.x * low(q.x >> 4u) + s.y, s.x * low(q.y) + s.y, s.x * low(q.y >> 4u) + s.y);
}
