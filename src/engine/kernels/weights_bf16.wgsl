@group(0) @binding(0) var<storage, read> quants: array<vec4u>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
fn four(pairs: vec2u) -> vec4f {
  return bitcast<vec4f>(vec4u(pairs.x << 16u, pairs.x & 0xffff0000u, pairs.y << 16u, pairs.y & 0xffff0000u));
}
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let a = quants[(row * LANES + lane) * 2u];
  let b = quants[(row * LANES + lane) * 2u + 1u];
  return array<vec4f, 4>(four(a.xy), four(a.zw), four(b.xy), four(b.zw));
}
