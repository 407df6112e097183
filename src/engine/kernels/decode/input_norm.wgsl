// The rows that weights are multiplied with: normed here, in every workgroup, which is cheaper than a dispatch of its own.
// Quantizing does not need the norm's factor, so it waits for nothing; the factor is applied to the results.
@group(1) @binding(0) var<storage, read> x: array<vec4f>;
@group(1) @binding(1) var<storage, read> gain: array<vec4f>;

const BLOCKS = LANES / 2u;
var<workgroup> x_quants: array<vec4u, BATCH * LANES>;
var<workgroup> x_scales: array<vec2f, BATCH * LANES>;
var<workgroup> squares: array<f32, BATCH * TEAMS>;

fn prepare(index: u32, team: u32, lane: u32) {
  for (var b = 0u; b < BATCH; b++) {
    var sum = 0.0;
    for (var block = index; block < BLOCKS; block += WORKGROUP) {
      var v: array<vec4f, 8>;
      for (var i = 0u; i < 8u; i++) {
        let four = x[(first_row + b) * (LANES * 4u) + block * 8u + i];
        sum += dot(four, four);
        v[i] = four * gain[block * 8u + i];
      }
      let made = quantize_block(v);
      let at = b * LANES + block * 2u;
      x_quants[at] = made.low;
      x_quants[at + 1u] = made.high;
      x_scales[at] = made.low_scale;
      x_scales[at + 1u] = made.high_scale;
    }
    let whole = team_sum(sum, index);
    if (lane == 0u) { squares[b * TEAMS + team] = whole; }
  }
  workgroupBarrier();
}
fn x16(b: u32, lane: u32) -> vec4u { return x_quants[b * LANES + lane]; }
fn x_scale(b: u32, lane: u32) -> vec2f { return x_scales[b * LANES + lane]; }
fn row_factor(b: u32) -> f32 {
  var sum = 0.0;
  for (var t = 0u; t < TEAMS; t++) { sum += squares[b * TEAMS + t]; }
  return inverseSqrt(sum / f32(LANES * 16u) + EPSILON);
}
