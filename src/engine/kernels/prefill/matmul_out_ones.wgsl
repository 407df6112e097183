@group(OUT_GROUP) @binding(1) var<storage, read_write> y: array<f32>;
// Four outputs beside each other; those of split s are `shift` = s * rows rows further down.
fn finish(row: u32, column: u32, shift: u32, value: vec4f) {
  if (row >= batch.rows) { return; }
  for (var i = 0u; i < min(4u, max(OUTPUTS, column) - column); i++) {
    var sum = value[i];
    if (BIAS) { sum += bias[column + i]; }
    let at = (row + shift) * Y_PITCH + Y_OFFSET + column + i;
    if (ACCUMULATE) { sum += y[at]; }
    y[at] = sum;
  }
}
