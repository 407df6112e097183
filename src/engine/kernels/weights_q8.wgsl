@group(0) @binding(0) var<storage, read> quants: array<vec4u>;  // int8, 16 a lane
@group(0) @binding(1) var<storage, read> scales: array<u32>;    // pairs of f16, one for 32 weights
fn signed_bytes(word: u32) -> vec4f { return vec4f(vec4i(vec4u(word) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u)); }
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let q = quants[row * LANES + lane];
  let pair = unpack2x16float(scales[row * ((LANES + 3u) / 4u) + lane / 4u]);
  let scale = select(pair.x, pair.y, (lane & 2u) != 0u);
  return array<vec4f, 4>(scale * signed_bytes(q.x), scale * signed_bytes(q.y), scale * signed_bytes(q.z), scale * signed_bytes(q.w));
}
