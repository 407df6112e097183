@group(0) @binding(0) var<storage, read> quants: array<vec4u>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
fn four(pairs: vec2u) -> vec4f { return vec4f(unpack2x16float(pairs.x), unpack2x16float(pairs.y)); }
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let a = quants[(row * LANES + lane) * 2u];
  let b = quants[(row * LANES + lane) * 2u + 1u];
  return array<vec4f, 4>(four(a.xy), four(a.zw), four(b.xy), four(b.zw));
}
