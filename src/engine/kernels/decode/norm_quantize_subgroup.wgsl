// A row for every workgroup: normed, and rounded to int8. As norm_quantize.wgsl, by shuffles.
@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> gain: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> out_scales: array<vec2f>;

const EACH = (LANES * 4u + WORKGROUP - 1u) / WORKGROUP;
var<workgroup> squares: array<f32, TEAMS>;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  var scales: array<vec2f, EACH>;
  var sum = 0.0;
  for (var e = 0u; e < EACH; e++) {
    let i = e * WORKGROUP + team * TEAM + lane;
    var v = vec4f();
    if (i < LANES * 4u) {
      v = x[group.x * (LANES * 4u) + i];
      sum += dot(v, v);
      v *= gain[i];
    }
    let made = quantize_four(v);
    scales[e] = made.scale;
    if ((lane & 3u) == 0u && i < LANES * 4u) { out_quants[group.x * LANES + i / 4u] = made.quants; }
  }
  let whole = team_sum(sum, index);
  if (lane == 0u) { squares[team] = whole; }
  workgroupBarrier();
  var all = 0.0;
  for (var t = 0u; t < TEAMS; t++) { all += squares[t]; }
  let factor = inverseSqrt(all / f32(LANES * 16u) + EPSILON);
  for (var e = 0u; e < EACH; e++) {
    let i = e * WORKGROUP + team * TEAM + lane;
    if ((lane & 3u) == 0u && i < LANES * 4u) { out_scales[group.x * LANES + i / 4u] = scales[e] * factor; }
  }
}
