// As input_norm.wgsl, where four numbers a thread are enough work and neighbours meet by shuffles.
@group(1) @binding(0) var<storage, read> x: array<vec4f>;
@group(1) @binding(1) var<storage, read> gain: array<vec4f>;

var<workgroup> x_quants: array<vec4u, BATCH * LANES>;
var<workgroup> x_scales: array<vec2f, BATCH * LANES>;
var<workgroup> squares: array<f32, BATCH * TEAMS>;

fn prepare(index: u32, team: u32, lane: u32) {
  for (var b = 0u; b < BATCH; b++) {
    var sum = 0.0;
    for (var first = 0u; first < LANES * 4u; first += WORKGROUP) {
      let i = first + team * TEAM + lane;
      var v = vec4f();
      if (i < LANES * 4u) {
        v = x[(first_row + b) * (LANES * 4u) + i];
        sum += dot(v, v);
        v *= gain[i];
      }
      let made = quantize_four(v);
      if ((lane & 3u) == 0u && i < LANES * 4u) {
        x_quants[b * LANES + i / 4u] = made.quants;
        x_scales[b * LANES + i / 4u] = made.scale;
      }
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
