@group(0) @binding(0) var<storage, read> quants: array<vec4u>;  // int8, 16 a lane
@group(0) @binding(1) var<storage, read> scales: array<u32>;
fn signed_bytes(word: u32) -> vec4f { return vec4f(vec4i(vec4u(word) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u)); }
fn lane_scale(row: u32, lane: u32) -> f32 {
  // Each 256 weights take five words: the f16 scale of all, then an int8 for every lane.
  let at = (row * (LANES / 16u) + lane / 16u) * 5u;
  let in_word = i32(scales[at + 1u + (lane & 15u) / 4u] << (24u - 8u * (lane & 3u))) >> 24u;
  return unpack2x16float(scales[at]).x * f32(in_word);
}
fn load16(row: u32, lane: u32) -> array<vec4f, 4> {
  let q = quants[row * LANES + lane];
  let scale = lane_scale(row, lane);
  return array<vec4f, 4>(scale * signed_bytes(q.x), scale * signed_bytes(q.y), scale * signed_bytes(q.z), scale * signed_bytes(q.w));
}
