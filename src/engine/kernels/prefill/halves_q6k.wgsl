// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3: bytes become the low bits of
// 1024 + byte in f16, which costs no conversion of integers. The same numbers as load16() rounded to f16.
fn halves(bytes: u32, scale: f32) -> vec2u {
  let biased = bytes ^ 0x80808080u;
  let even = vec2f(bitcast<vec2<f16>>((biased & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1152.0h));
  let odd = vec2f(bitcast<vec2<f16>>(((biased >> 8u) & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1152.0h));
  return vec2u(bitcast<u32>(vec2<f16>(scale * even)), bitcast<u32>(vec2<f16>(scale * odd)));
}
struct Lane { quants: vec4u, whole: u32, four: u32 }  // As it stands in memory (lane_scale()).
fn lane16(row: u32, lane: u32) -> Lane {
  let at = (row * (LANES / 16u) + lane / 16u) * 5u;
  return Lane(quants[row * LANES + lane], scales[at], scales[at + 1u + (lane & 15u) / 4u]);
}
fn halves16(raw: Lane, lane: u32) -> array<vec4u, 2> {
  let q = raw.quants;
  let scale = unpack2x16float(raw.whole).x * f32(i32(raw.four << (24u - 8u * (lane & 3u))) >> 24u);
  return array<vec4u, 2>(vec4u(halves(q.x, scale), halves(q.y, scale)), vec4u(halves(q.z, scale), halves(q.w, scale)));
}
