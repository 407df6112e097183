struct BatchSize { rows: u32, segments: u32, unused: vec2u }
@group(1) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(3) var<storage, read> bias: array<f32>;
@group(1) @binding(4) var<uniform> batch: BatchSize;

fn weight_row(block: u32, across: u32, r: u32) -> u32 { return (block * TEAMS_ACROSS + across) * WEIGHTS + r; }
fn finish(block: u32, row_base: u32, across: u32, down: u32, index: u32, lane: u32, sums: array<f32, OUT>) {
  if (lane % SAME != 0u) { return; }
  for (var k = 0u; k < OUT; k++) {
    let at_sum = lane / SAME * OUT + k;
    let b = at_sum / WEIGHTS;
    let row = weight_row(block, across, at_sum % WEIGHTS);
    if (first_row + b < batch.rows && row < ROWS) {
      let factor = row_factor(b);
      var sum = sums[k] * factor;
      let at = (first_row + b) * Y_PITCH + Y_OFFSET + row;
      if (BIAS) { sum = fma(sums[k], factor, bias[row]); }
      if (ACCUMULATE) { sum += y[at]; }
      y[at] = sum;
    }
  }
}
