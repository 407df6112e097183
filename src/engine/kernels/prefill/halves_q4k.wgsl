// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3: nibbles become the low bits of
// 1024 + nibble in f16, which costs no conversion of integers. The same numbers as load16() rounded to f16.
fn halves(nibbles: u32, s: vec2f) -> vec2u {
  let even = vec2f(bitcast<vec2<f16>>((nibbles & 0x000f000fu) | 0x64006400u) - vec2<f16>(1024.0h));
  let odd = vec2f(bitcast<vec2<f16>>(((nibbles >> 8u) & 0x000f000fu) | 0x64006400u) - vec2<f16>(1024.0h));
  return vec2u(bitcast<u32>(vec2<f16>(s.x * even + s.y)), bitcast<u32>(vec2<f16>(s.x * odd + s.y)));
}
fn halves16(row: u32, lane: u32) -> array<vec4u, 2> {
  let q = quants[row * LANES + lane];
  let s = k_scale(row, lane);
  return array<vec4u, 2>(vec4u(halves(q.x, s), halves(q.x >> 4u, s)), vec4u(halves(q.y, s), halves(q.y >> 4u, s)));
}
