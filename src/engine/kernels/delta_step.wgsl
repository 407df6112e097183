@group(0) @binding(0) var<storage, read> conv: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> dt_bias: array<f32>;
@group(0) @binding(3) var<storage, read> a: array<f32>;
@group(0) @binding(4) var<storage, read_write> state: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<storage, read> segments: array<vec4u>;  // slot, first row, rows

const FOURS = KEY_DIM / 4u;
const HELD = (FOURS + TEAM - 1u) / TEAM;  // Fours of a column that a lane holds.
const ROW = 2u * KEY_HEADS * KEY_DIM + VALUE_HEADS * VALUE_DIM;

var<workgroup> segment_rows: u32;

fn four(at: u32) -> vec4f { return vec4f(conv[at], conv[at + 1u], conv[at + 2u], conv[at + 3u]); }
fn softplus(value: f32) -> f32 { return select(log(1.0 + exp(value)), value, value > 20.0); }

// A team keeps one column of the state: what the head says for one element of the value.
fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let head = group.y;
  let column = min(group.x * TEAMS + team, VALUE_DIM - 1u);
  let writes = group.x * TEAMS + team < VALUE_DIM;
  let segment = segments[group.z];
  if (index == 0u) { segment_rows = segment.z; }
  let rows = workgroupUniformLoad(&segment_rows);
  let key_head = head % KEY_HEADS;
  let at = ((segment.x * VALUE_HEADS + head) * VALUE_DIM + column) * FOURS;

  var held: array<vec4f, HELD>;
  for (var i = 0u; i < HELD; i++) {
    if (lane + i * TEAM < FOURS) { held[i] = state[at + lane + i * TEAM]; }
  }
  for (var r = 0u; r < rows; r++) {
    let row = segment.y + r;
    var q: array<vec4f, HELD>;
    var k: array<vec4f, HELD>;
    var q_squares = 0.0;
    var k_squares = 0.0;
    for (var i = 0u; i < HELD; i++) {
      if (lane + i * TEAM < FOURS) {
        let start = row * ROW + key_head * KEY_DIM + (lane + i * TEAM) * 4u;
        q[i] = four(start);
        k[i] = four(start + KEY_HEADS * KEY_DIM);
        q_squares += dot(q[i], q[i]);
        k_squares += dot(k[i], k[i]);
      }
    }
    let q_scale = SCALE / max(sqrt(team_sum(q_squares, index)), EPSILON);
    let k_scale = 1.0 / max(sqrt(team_sum(k_squares, index)), EPSILON);
    let decay = exp(a[head] * softplus(x[row * PITCH + ALPHA + head] + dt_bias[head]));
    let beta = 1.0 / (1.0 + exp(-x[row * PITCH + BETA + head]));
    var said = 0.0;
    for (var i = 0u; i < HELD; i++) {
      k[i] *= k_scale;
      held[i] *= decay;
      said += dot(held[i], k[i]);
    }
    let value = conv[row * ROW + 2u * KEY_HEADS * KEY_DIM + head * VALUE_DIM + column];
    let change = (value - team_sum(said, index)) * beta;
    var says = 0.0;
    for (var i = 0u; i < HELD; i++) {
      held[i] += k[i] * change;
      says += dot(held[i], q[i]);
    }
    let sum = team_sum(says, index) * q_scale;
    if (lane == 0u && writes) { out[(row * VALUE_HEADS + head) * VALUE_DIM + column] = sum; }
  }
  for (var i = 0u; i < HELD; i++) {
    if (writes && lane + i * TEAM < FOURS) { state[at + lane + i * TEAM] = held[i]; }
  }
}
