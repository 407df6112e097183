struct BatchSize { rows: u32, segments: u32, unused: vec2u }
@group(1) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(3) var<storage, read> bias: array<f32>;
@group(1) @binding(4) var<uniform> batch: BatchSize;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  first_row = group.z * BATCH;
  let first = ((group.x + group.y * groups.x) * (TEAMS / SHARE) + team / SHARE) * ROWS_EACH;
  var rows: array<u32, ROWS_EACH>;
  for (var r = 0u; r < ROWS_EACH; r++) { rows[r] = min(first + r, ROWS - 1u); }
  ask(rows, 0u, lane + (team % SHARE) * TEAM);
  prepare(index, team, lane);
  var sums = products(rows, index, team, lane);
  if (lane != 0u || team % SHARE != 0u) { return; }
  for (var b = 0u; b < BATCH; b++) {
    if (first_row + b >= batch.rows) { return; }
    let factor = row_factor(b);
    for (var r = 0u; r < ROWS_EACH; r++) {
      let row = first + r;
      if (row < ROWS) {
        var sum = sums[r * BATCH + b] * factor;
        let at = (first_row + b) * Y_PITCH + Y_OFFSET + row;
        if (BIAS) { sum = fma(sums[r * BATCH + b], factor, bias[row]); }
        if (ACCUMULATE) { sum += y[at]; }
        y[at] = sum;
      }
    }
  }
}
