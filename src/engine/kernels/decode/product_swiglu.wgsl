// out = quantized gate(gates) * ups: weight rows [0, WIDTH) are gates, [WIDTH, 2 * WIDTH) ups. A workgroup makes a block of 32.
@group(1) @binding(2) var<storage, read_write> out_quants: array<vec4u>;
@group(1) @binding(3) var<storage, read_write> out_scales: array<vec2f>;

const EACH = 32u / (TEAMS / SHARE);  // Numbers that a team makes, one after another.
const PAIRS = ROWS_EACH / 2u;        // Numbers that it makes at a time.
fn pairs(first: u32) -> array<u32, ROWS_EACH> {
  var rows = array<u32, ROWS_EACH>();
  for (var p = 0u; p < PAIRS; p++) {
    rows[2u * p] = first + p;
    rows[2u * p + 1u] = WIDTH + first + p;
  }
  return rows;
}
var<workgroup> gated: array<f32, BATCH * 32u>;
fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  first_row = group.z * BATCH;
  let block = group.x + group.y * groups.x;
  let first = min(block, WIDTH / 32u - 1u) * 32u + team / SHARE * EACH;
  ask(pairs(first), 0u, lane + (team % SHARE) * TEAM);
  prepare(index, team, lane);
  for (var e = 0u; e < EACH; e += PAIRS) {
    let rows = pairs(first + e);
    if (e > 0u) { ask(rows, 0u, lane + (team % SHARE) * TEAM); }
    var sums = products(rows, index, team, lane);
    if (lane == 0u && team % SHARE == 0u) {
      for (var b = 0u; b < BATCH; b++) {
        let factor = row_factor(b);
        for (var p = 0u; p < PAIRS; p++) {
          let gate_sum = sums[2u * p * BATCH + b] * factor;
          gated[b * 32u + team / SHARE * EACH + e + p] = gate(gate_sum) * (sums[(2u * p + 1u) * BATCH + b] * factor);
        }
      }
    }
  }
  workgroupBarrier();
  if (index < BATCH && block < WIDTH / 32u) {
    var v: array<vec4f, 8>;
    for (var i = 0u; i < 8u; i++) {
      let at = index * 32u + i * 4u;
      v[i] = vec4f(gated[at], gated[at + 1u], gated[at + 2u], gated[at + 3u]);
    }
    let made = quantize_block(v);
    let at = (first_row + index) * (WIDTH / 16u) + block * 2u;
    out_quants[at] = made.low;
    out_quants[at + 1u] = made.high;
    out_scales[at] = made.low_scale;
    out_scales[at + 1u] = made.high_scale;
  }
}
