// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3: bytes become the low bits of
// 1024 + byte in f16, which costs no conversion. The same numbers as load16() rounded to f16.
fn halves(bytes: u32, scale: vec2<f16>) -> vec2u {
  let biased = bytes ^ 0x80808080u;
  let even = bitcast<vec2<f16>>((biased & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1152.0h);
  let odd = bitcast<vec2<f16>>(((biased >> 8u) & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1152.0h);
  return vec2u(bitcast<u32>(even * scale), bitcast<u32>(odd * scale));
}
fn halves16(row: u32, lane: u32) -> array<vec4u, 2> {
  let q = quants[row * LANES + lane];
  let pair = bitcast<vec2<f16>>(scales[row * ((LANES + 3u) / 4u) + lane / 4u]);
  let scale = vec2<f16>(select(pair.x, pair.y, (lane & 2u) != 0u));
  return array<vec4u, 2>(vec4u(halves(q.x, scale), halves(q.y, scale)), vec4u(halves(q.z, scale), halves(q.w, scale)));
}
