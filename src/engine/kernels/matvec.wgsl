struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(1) @binding(0) var<storage, read> x: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(2) var<storage, read> bias: array<f32>;
@group(1) @binding(3) var<uniform> batch: BatchSize;

fn quarter(row: u32, at: u32) -> vec4f {
  if (QUARTERS % 4u != 0u) {
    if (at >= QUARTERS) { return vec4f(); }
  }
  return x[row * X_PITCH + at];
}

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let row = (group.x + group.y * groups.x) * TEAMS + team;
  let weight_row = min(row, ROWS - 1u);  // All teams stay together for team_sum().
  let first = group.z * BATCH;
  var sums: array<f32, BATCH>;
  for (var i = lane; i < LANES; i += TEAM) {
    let w = load16(weight_row, i);
    for (var b = 0u; b < BATCH; b++) {
      let at = i * 4u;
      let in_row = min(first + b, batch.rows - 1u);
      sums[b] += dot(w[0], quarter(in_row, at)) + dot(w[1], quarter(in_row, at + 1u)) + dot(w[2], quarter(in_row, at + 2u)) +
                 dot(w[3], quarter(in_row, at + 3u));
    }
  }
  for (var b = 0u; b < BATCH; b++) {
    var sum = team_sum(sums[b], index);
    if (lane == 0u && row < ROWS && first + b < batch.rows) {
      let at = (first + b) * Y_PITCH + Y_OFFSET + row;
      if (BIAS) { sum += bias[row]; }
      if (ACCUMULATE) { sum += y[at]; }
      y[at] = sum;
    }
  }
}
