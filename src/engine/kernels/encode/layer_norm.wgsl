struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(0) @binding(0) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>;
@group(0) @binding(4) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(5) var<uniform> batch: BatchSize;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let wanted = (group.x + group.y * groups.x) * TEAMS + team;
  let row = min(wanted, batch.rows - 1u);  // All teams stay together for team_sum().
  let first = row * QUARTERS;
  var table_first = 0u;
  if (BY_POSITION) { table_first = places[row].y * QUARTERS; }
  var sum = 0.0;
  for (var i = lane; i < QUARTERS; i += TEAM) {
    var four = x[first + i];
    if (TABLE) { four += table[table_first + i]; }
    sum += dot(four, vec4f(1.0));
  }
  let mean = team_sum(sum, index) / f32(QUARTERS * 4u);
  var squares = 0.0;
  for (var i = lane; i < QUARTERS; i += TEAM) {
    var four = x[first + i] - mean;
    if (TABLE) { four += table[table_first + i]; }
    squares += dot(four, four);
  }
  let scale = inverseSqrt(team_sum(squares, index) / f32(QUARTERS * 4u) + EPSILON);
  if (wanted >= batch.rows) { return; }
  for (var i = lane; i < QUARTERS; i += TEAM) {
    var four = x[first + i] - mean;
    if (TABLE) { four += table[table_first + i]; }
    x[first + i] = four * scale * weight[i] + bias[i];
  }
}
