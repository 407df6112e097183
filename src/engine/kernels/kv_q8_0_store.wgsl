// Stores head[0 .. DIM) from workgroup memory at `first` (counted in fours); all threads of a workgroup of WORKGROUP call.
fn block_scale(block: u32) -> f32 {
  var top = 0.0;
  for (var i = 0u; i < 32u; i++) { top = max(top, abs(head[block * 32u + i])); }
  return top / 127.0;
}
fn pack_cell(i: u32, inverse: f32) -> u32 {
  let q = vec4i(round(vec4f(head[4u * i], head[4u * i + 1u], head[4u * i + 2u], head[4u * i + 3u]) * inverse));
  return (u32(q.x) & 255u) | ((u32(q.y) & 255u) << 8u) | ((u32(q.z) & 255u) << 16u) | ((u32(q.w) & 255u) << 24u);
}
fn inverse_of(scale: f32) -> f32 { return select(0.0, 1.0 / scale, scale > 0.0); }
fn store_key(first: u32, index: u32) {
  for (var block = index; block < DIM / 32u; block += WORKGROUP) {
    let scale = block_scale(block);
    keys[KV_SCALES + first / 8u + block] = bitcast<u32>(scale);
    for (var i = 0u; i < 8u; i++) { keys[first + block * 8u + i] = pack_cell(block * 8u + i, inverse_of(scale)); }
  }
}
fn store_value(first: u32, index: u32) {
  for (var block = index; block < DIM / 32u; block += WORKGROUP) {
    let scale = block_scale(block);
    values[KV_SCALES + first / 8u + block] = bitcast<u32>(scale);
    for (var i = 0u; i < 8u; i++) { values[first + block * 8u + i] = pack_cell(block * 8u + i, inverse_of(scale)); }
  }
}
