@group(1) @binding(0) var<storage, read> x: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(2) var<storage, read> chosen: array<vec2u>;  // expert, weight

const PLACES = select(1u, USED, SUMMED);  // That one team adds up.

fn quarter(row: u32, at: u32) -> vec4f {
  if (QUARTERS % 4u != 0u) {
    if (at >= QUARTERS) { return vec4f(); }
  }
  return x[row * QUARTERS + at];
}

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let output = (group.x + group.y * groups.x) * TEAMS + team;
  let n = min(output, ALL_OUTPUTS - 1u);  // All teams stay together for team_sum().
  var sum = 0.0;
  var here = false;
  for (var place = 0u; place < PLACES; place++) {
    let at = group.z * PLACES + place;
    let one = chosen[at];
    let weight_row = (n / OUTPUTS * EXPERTS + one.x) * OUTPUTS + n % OUTPUTS - PART_FIRST;
    if (weight_row >= PART_ROWS) { continue; }  // Before the part's first row it wraps around.
    here = true;
    let in_row = select(at / USED, at, SUMMED);
    var part = 0.0;
    for (var i = lane; i < LANES; i += TEAM) {
      let w = load16(weight_row, i);
      let first = i * 4u;
      part += dot(w[0], quarter(in_row, first)) + dot(w[1], quarter(in_row, first + 1u)) + dot(w[2], quarter(in_row, first + 2u)) +
              dot(w[3], quarter(in_row, first + 3u));
    }
    if (SUMMED) { part *= bitcast<f32>(one.y); }
    sum += part;
  }
  let total = team_sum(sum, index);
  if (lane != 0u || output >= ALL_OUTPUTS || !here) { return; }
  let to = group.z * Y_PITCH + Y_OFFSET + output;
  if (SUMMED) { y[to] += total; } else { y[to] = total; }
}
