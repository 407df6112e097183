// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3: bytes become the low bits of
// 1024 + byte in f16, which costs no conversion of integers. The same numbers as load16() rounded to f16.
fn halves(bytes: u32, scale: f32) -> vec2u {
  let biased = bytes ^ 0x80808080u;
  let even = vec2f(bitcast<vec2<f16>>((biased & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1152.0h));
  let odd = vec2f(bitcast<vec2<f16>>(((biased >> 8u) & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1152.0h));
  return vec2u(bitcast<u32>(vec2<f16>(scale * even)), bitcast<u32>(vec2<f16>(scale * odd)));
}
fn halves16(row: u32, lane: u32) -> array<vec4u, 2> {
  let q = quants[row * LANES + lane];
  let scale = lane_scale(row, lane);
  return array<vec4u, 2>(vec4u(halves(q.x, scale), halves(q.y, scale)), vec4u(halves(q.z, scale), halves(q.w, scale)));
}
