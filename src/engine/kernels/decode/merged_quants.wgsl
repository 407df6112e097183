// What merge_shares.wgsl merged, rounded to int8 in blocks of 32.
@group(0) @binding(2) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> out_scales: array<vec2f>;
const FOURS = DIM / 4u;
const ROW = HEADS * FOURS;
var<workgroup> merged: array<vec4f, 64>;

fn write_merged(row: u32, part: u32, index: u32) {
  let block = part * 8u + index;
  if (index < 8u && block < ROW / 8u) {
    var v: array<vec4f, 8>;
    for (var i = 0u; i < 8u; i++) { v[i] = merged[index * 8u + i]; }
    let made = quantize_block(v);
    let to = row * (ROW / 4u) + block * 2u;
    out_quants[to] = made.low;
    out_quants[to + 1u] = made.high;
    out_scales[to] = made.low_scale;
    out_scales[to + 1u] = made.high_scale;
  }
}
