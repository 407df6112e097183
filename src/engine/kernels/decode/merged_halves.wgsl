// What merge_shares.wgsl merged, as f16.
@group(0) @binding(2) var<storage, read_write> out: array<vec2u>;
const FOURS = DIM / 4u;
const ROW = HEADS * FOURS;
var<workgroup> merged: array<vec4f, 64>;

fn write_merged(row: u32, part: u32, index: u32) {
  let at = part * 64u + index;
  if (at < ROW) { out[row * ROW + at] = bitcast<vec2u>(vec4<f16>(clamp(merged[index], vec4f(-65504.0), vec4f(65504.0)))); }
}
