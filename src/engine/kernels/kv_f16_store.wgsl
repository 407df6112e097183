// Stores head[0 .. DIM) from workgroup memory at `first` (counted in fours); all threads of a workgroup of WORKGROUP call.
fn pack_cell(i: u32) -> vec2u {
  return vec2u(pack2x16float(vec2f(head[4u * i], head[4u * i + 1u])), pack2x16float(vec2f(head[4u * i + 2u], head[4u * i + 3u])));
}
fn store_key(first: u32, index: u32) {
  for (var i = index; i < DIM / 4u; i += WORKGROUP) { keys[first + i] = pack_cell(i); }
}
fn store_value(first: u32, index: u32) {
  for (var i = index; i < DIM / 4u; i += WORKGROUP) { values[first + i] = pack_cell(i); }
}
