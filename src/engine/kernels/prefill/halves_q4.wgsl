// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3: nibbles become the low bits of
// 1024 + nibble in f16, which costs no conversion. The same numbers as load16() rounded to f16.
fn halves(nibbles: u32, scale: vec2<f16>) -> vec2u {
  let even = bitcast<vec2<f16>>((nibbles & 0x000f000fu) | 0x64006400u) - vec2<f16>(1032.0h);
  let odd = bitcast<vec2<f16>>(((nibbles >> 8u) & 0x000f000fu) | 0x64006400u) - vec2<f16>(1032.0h);
  return vec2u(bitcast<u32>(even * scale), bitcast<u32>(odd * scale));
}
struct Lane { quants: vec2u, scales: u32 }  // As it stands in memory.
fn lane16(row: u32, lane: u32) -> Lane { return Lane(quants[row * LANES + lane], scales[row * ((LANES + 3u) / 4u) + lane / 4u]); }
fn halves16(raw: Lane, lane: u32) -> array<vec4u, 2> {
  let q = raw.quants;
  let pair = bitcast<vec2<f16>>(raw.scales);
  let scale = vec2<f16>(select(pair.x, pair.y, (lane & 2u) != 0u));
  return array<vec4u, 2>(vec4u(halves(q.x, scale), halves(q.x >> 4u, scale)), vec4u(halves(q.y, scale), halves(q.y >> 4u, scale)));
}
