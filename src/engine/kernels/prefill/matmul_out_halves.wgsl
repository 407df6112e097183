@group(OUT_GROUP) @binding(1) var<storage, read_write> y: array<vec2u>;
// Four outputs beside each other, as f16.
fn finish(row: u32, column: u32, shift: u32, value: vec4f) {
  if (row >= batch.rows || column >= OUTPUTS) { return; }
  var sum = value;
  if (BIAS) { sum += vec4f(bias[column], bias[column + 1u], bias[column + 2u], bias[column + 3u]); }
  y[((row + shift) * Y_PITCH + Y_OFFSET + column) / 4u] = bitcast<vec2u>(vec4<f16>(clamp(sum, vec4f(-65504.0), vec4f(65504.0))));
}
