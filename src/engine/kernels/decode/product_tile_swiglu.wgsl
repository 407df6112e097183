// out = quantized gate(gates) * ups: weight rows [0, WIDTH) are gates, [WIDTH, 2 * WIDTH) ups. A workgroup makes a block of 32.
@group(1) @binding(2) var<storage, read_write> out_quants: array<vec4u>;
@group(1) @binding(3) var<storage, read_write> out_scales: array<vec2f>;

const PAIRS = WEIGHTS / 2u;
const WORKGROUP_SUMS = TEAMS * SUMS;
var<workgroup> made_sums: array<f32, WORKGROUP_SUMS>;  // [row][32][gate, up]
var<workgroup> gated: array<f32, WORKGROUP_SUMS / 2u>;  // [row][32]

fn weight_row(block: u32, across: u32, r: u32) -> u32 { return (r & 1u) * WIDTH + block * 32u + across * PAIRS + r / 2u; }
fn finish(block: u32, row_base: u32, across: u32, down: u32, index: u32, lane: u32, sums: array<f32, OUT>) {
  if (lane % SAME == 0u) {
    for (var k = 0u; k < OUT; k++) {
      let at_sum = lane / SAME * OUT + k;
      let b = at_sum / WEIGHTS;
      let factor = row_factor(b);
      made_sums[(down * BATCH + b) * 64u + across * WEIGHTS + at_sum % WEIGHTS] = sums[k] * factor;
    }
  }
  workgroupBarrier();
  for (var i = index; i < WORKGROUP_SUMS / 2u; i += WORKGROUP) {
    gated[i] = gate(made_sums[2u * i]) * made_sums[2u * i + 1u];
  }
  workgroupBarrier();
  for (var row = index; row < WORKGROUP_ROWS; row += WORKGROUP) {
    var v: array<vec4f, 8>;
    for (var i = 0u; i < 8u; i++) {
      let at = row * 32u + i * 4u;
      v[i] = vec4f(gated[at], gated[at + 1u], gated[at + 2u], gated[at + 3u]);
    }
    let made = quantize_block(v);
    let at = (row_base + row) * (WIDTH / 16u) + block * 2u;
    out_quants[at] = made.low;
    out_quants[at + 1u] = made.high;
    out_scales[at] = made.low_scale;
    out_scales[at + 1u] = made.high_scale;
  }
}
