@group(OUT_GROUP) @binding(1) var<storage, read_write> y: array<vec4f>;
// Four outputs beside each other; those of split s are `shift` = s * rows rows further down.
fn finish(row: u32, column: u32, shift: u32, value: vec4f) {
  if (row >= batch.rows || column >= OUTPUTS) { return; }
  var sum = value;
  if (BIAS) { sum += vec4f(bias[column], bias[column + 1u], bias[column + 2u], bias[column + 3u]); }
  let at = ((row + shift) * Y_PITCH + Y_OFFSET + column) / 4u;
  if (ACCUMULATE) { sum += y[at]; }
  y[at] = sum;
}
