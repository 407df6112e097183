// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3: nibbles become the low bits of
// 1024 + nibble in f16, which costs no conversion of integers. The same numbers as load16() rounded to f16.
fn halves(nibbles: u32, s: vec2f) -> vec2u {
  let even = vec2f(bitcast<vec2<f16>>((nibbles & 0x000f000fu) | 0x64006400u) - vec2<f16>(1024.0h));
  let odd = vec2f(bitcast<vec2<f16>>(((nibbles >> 8u) & 0x000f000fu) | 0x64006400u) - vec2<f16>(1024.0h));
  return vec2u(bitcast<u32>(vec2<f16>(s.x * even + s.y)), bitcast<u32>(vec2<f16>(s.x * odd + s.y)));
}
struct Lane { quants: vec2u, whole: u32, both: u32 }  // As it stands in memory (k_scale()).
fn lane16(row: u32, lane: u32) -> Lane {
  let at = (row * (LANES / 16u) + lane / 16u) * 5u;
  return Lane(quants[row * LANES + lane], scales[at], scales[at + 1u + ((lane / 2u) & 7u) / 2u]);
}
fn halves16(raw: Lane, lane: u32) -> array<vec4u, 2> {
  let q = raw.quants;
  let both = raw.both >> (((lane / 2u) & 1u) * 16u);
  let s = unpack2x16float(raw.whole) * vec2f(f32(both & 255u), -f32((both >> 8u) & 255u));
  return array<vec4u, 2>(vec4u(halves(q.x, s), halves(q.x >> 4u, s)), vec4u(halves(q.y, s), halves(q.y >> 4u, s)));
}
