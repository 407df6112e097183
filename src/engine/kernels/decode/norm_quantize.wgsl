// A row for every workgroup: normed, and rounded to int8.
@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> gain: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> out_scales: array<vec2f>;

const BLOCKS = LANES / 2u;
const EACH = (BLOCKS + WORKGROUP - 1u) / WORKGROUP;
var<workgroup> squares: array<f32, TEAMS>;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  var low: array<vec2f, EACH>;
  var high: array<vec2f, EACH>;
  var sum = 0.0;
  for (var e = 0u; e < EACH; e++) {
    let block = e * WORKGROUP + index;
    if (block < BLOCKS) {
      var v: array<vec4f, 8>;
      for (var i = 0u; i < 8u; i++) {
        let four = x[group.x * (LANES * 4u) + block * 8u + i];
        sum += dot(four, four);
        v[i] = four * gain[block * 8u + i];
      }
      let made = quantize_block(v);
      let at = group.x * LANES + block * 2u;
      out_quants[at] = made.low;
      out_quants[at + 1u] = made.high;
      low[e] = made.low_scale;
      high[e] = made.high_scale;
    }
  }
  let whole = team_sum(sum, index);
  if (lane == 0u) { squares[team] = whole; }
  workgroupBarrier();
  var all = 0.0;
  for (var t = 0u; t < TEAMS; t++) { all += squares[t]; }
  let factor = inverseSqrt(all / f32(LANES * 16u) + EPSILON);
  for (var e = 0u; e < EACH; e++) {
    let block = e * WORKGROUP + index;
    if (block < BLOCKS) {
      let at = group.x * LANES + block * 2u;
      out_scales[at] = low[e] * factor;
      out_scales[at + 1u] = high[e] * factor;
    }
  }
}
