var<private> first_row: u32;  // The first of the BATCH rows that this workgroup works on.

// SHARE teams next to each other work on the same weight rows, each on a share of the columns.
const STRIDE = TEAM * SHARE;
const SUMS = ROWS_EACH * BATCH;
var<workgroup> shared_sums: array<f32, select(1u, TEAMS * SUMS, SHARE > 1u)>;

// Weights on their way: AHEAD lanes of each of ROWS_EACH rows, from lane `first` on.
var<private> coming: array<vec4u, ROWS_EACH * AHEAD>;
var<private> coming_scales: array<vec2f, ROWS_EACH * AHEAD>;
fn ask(rows: array<u32, ROWS_EACH>, first: u32, mine: u32) {
  for (var r = 0u; r < ROWS_EACH; r++) {
    for (var a = 0u; a < AHEAD; a++) {
      let i = min(first + mine + a * STRIDE, LANES - 1u);
      coming[r * AHEAD + a] = quant16(rows[r], i);
      coming_scales[r * AHEAD + a] = scale16(rows[r], i);
    }
  }
}

// sums[r * BATCH + b] = weight row rows[r] . row b, before the row's factor; for every thread. The caller has asked for the first
// weights with prepare() before.
fn products(rows: array<u32, ROWS_EACH>, index: u32, team: u32, lane: u32) -> array<f32, SUMS> {
  let mine = lane + (team % SHARE) * TEAM;
  var sums = array<f32, SUMS>();
  for (var first = 0u; first < LANES; first += STRIDE * AHEAD) {
    if (first > 0u) { ask(rows, first, mine); }
    for (var a = 0u; a < AHEAD; a++) {
      let i = first + mine + a * STRIDE;
      if (i < LANES) {
        for (var b = 0u; b < BATCH; b++) {
          let q = x16(b, i);
          let scale = x_scale(b, i);
          for (var r = 0u; r < ROWS_EACH; r++) {
            sums[r * BATCH + b] = add_lane(sums[r * BATCH + b], coming[r * AHEAD + a], coming_scales[r * AHEAD + a], q, scale);
          }
        }
      }
    }
  }
  for (var i = 0u; i < SUMS; i++) { sums[i] = tree_sum(sums[i], index); }
  if (SHARE > 1u) {
    if (lane == 0u) {
      for (var i = 0u; i < SUMS; i++) { shared_sums[team * SUMS + i] = sums[i]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < SUMS; i++) {
      var sum = 0.0;
      for (var s = 0u; s < SHARE; s++) { sum += shared_sums[(team / SHARE * SHARE + s) * SUMS + i]; }
      sums[i] = sum;
    }
    workgroupBarrier();
  }
  return sums;
}
