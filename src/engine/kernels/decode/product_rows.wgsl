var<private> first_row: u32;  // Of the BATCH rows that this workgroup works on.

// sums[r * BATCH + b] = weight row rows[r] . row b, before the row's factor; for every thread of the team.
// The first weights are asked for before prepare(), so that they come while it works.
fn products(rows: array<u32, ROWS_EACH>, index: u32, team: u32, lane: u32) -> array<f32, ROWS_EACH * BATCH> {
  var w: array<vec4u, ROWS_EACH * AHEAD>;
  var s: array<vec2f, ROWS_EACH * AHEAD>;
  for (var r = 0u; r < ROWS_EACH; r++) {
    for (var a = 0u; a < AHEAD; a++) {
      let i = min(lane + a * TEAM, LANES - 1u);
      w[r * AHEAD + a] = quant16(rows[r], i);
      s[r * AHEAD + a] = scale16(rows[r], i);
    }
  }
  prepare(index, team, lane);
  var sums: array<f32, ROWS_EACH * BATCH>;
  for (var first = 0u; first < LANES; first += TEAM * AHEAD) {
    if (first > 0u) {
      for (var r = 0u; r < ROWS_EACH; r++) {
        for (var a = 0u; a < AHEAD; a++) {
          let i = min(first + lane + a * TEAM, LANES - 1u);
          w[r * AHEAD + a] = quant16(rows[r], i);
          s[r * AHEAD + a] = scale16(rows[r], i);
        }
      }
    }
    for (var a = 0u; a < AHEAD; a++) {
      let i = first + lane + a * TEAM;
      if (i < LANES) {
        for (var b = 0u; b < BATCH; b++) {
          let q = x16(b, i);
          let scale = x_scale(b, i);
          for (var r = 0u; r < ROWS_EACH; r++) {
            let v = w[r * AHEAD + a];
            let t = dot4(v.x, q.x) + dot4(v.y, q.y) + dot4(v.z, q.z) + dot4(v.w, q.w);
            sums[r * BATCH + b] += s[r * AHEAD + a].x * (scale.x * f32(t));
            if (HAS_OFFSET) { sums[r * BATCH + b] += s[r * AHEAD + a].y * scale.y; }
          }
        }
      }
    }
  }
  for (var i = 0u; i < ROWS_EACH * BATCH; i++) { sums[i] = team_sum(sums[i], index); }
  return sums;
}
