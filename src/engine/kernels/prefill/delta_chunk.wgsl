@group(0) @binding(0) var<storage, read> conv: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> dt_bias: array<f32>;
@group(0) @binding(3) var<storage, read> a: array<f32>;
@group(0) @binding(4) var<storage, read_write> state: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<storage, read> segments: array<vec4u>;  // slot, first row, rows

const FOURS = KEY_DIM / 4u;
const HELD = (FOURS + LANES - 1u) / LANES;  // Fours of a column that a thread holds.
const ROW = 2u * KEY_HEADS * KEY_DIM + VALUE_HEADS * VALUE_DIM;
const FETCH = (2u * CHUNK * FOURS + THREADS - 1u) / THREADS;
const FETCH_VALUES = (CHUNK * COLUMNS + THREADS - 1u) / THREADS;
const SHARES = 16u;  // Parts of a row whose squares are summed apart.

var<workgroup> heads: array<vec4f, 2u * CHUNK * FOURS>;  // Queries of the chunk, then its keys, as they come.
var<workgroup> learnt: array<f32, CHUNK * COLUMNS>;      // Values.
var<workgroup> squares: array<vec2f, CHUNK * SHARES>;
var<workgroup> factors: array<vec4f, CHUNK>;  // decay, beta, norm of the query with the scale, norm of the key
var<workgroup> shared_segment: vec4u;

fn four(at: u32) -> vec4f { return vec4f(conv[at], conv[at + 1u], conv[at + 2u], conv[at + 3u]); }
fn softplus(value: f32) -> f32 { return select(log(1.0 + exp(value)), value, value > 20.0); }

// What a lane needs of a query or key that lies at `begin`.
fn held_part(begin: u32, lane: u32) -> array<vec4f, HELD> {
  var part: array<vec4f, HELD>;
  for (var i = 0u; i < HELD; i++) {
    part[i] = vec4f();
    if (FOURS % LANES == 0u || lane + i * LANES < FOURS) { part[i] = heads[begin + lane + i * LANES]; }
  }
  return part;
}

fn kernel(group: vec3u, index: u32) {
  let head = group.y;
  let lane = index % LANES;
  let in_tile = index / LANES;
  let column = min(group.x * COLUMNS + in_tile, VALUE_DIM - 1u);
  let writes = group.x * COLUMNS + in_tile < VALUE_DIM;
  if (index == 0u) { shared_segment = segments[group.z]; }
  let segment = workgroupUniformLoad(&shared_segment);
  let first_row = segment.y;
  let rows = segment.z;
  let key_head = head % KEY_HEADS;
  let at = ((segment.x * VALUE_HEADS + head) * VALUE_DIM + column) * FOURS + lane;
  let decay_rate = a[head];
  let decay_bias = dt_bias[head];

  var held: array<vec4f, HELD>;
  for (var i = 0u; i < HELD; i++) {
    held[i] = vec4f();
    if (FOURS % LANES == 0u || lane + i * LANES < FOURS) { held[i] = state[at + i * LANES]; }
  }
  var fetched: array<vec4f, FETCH>;
  var fetched_values: array<f32, FETCH_VALUES>;
  var fetched_gates = vec2f();
  var says = 0.0;  // The lane's share of what the row before says, without the query's norm.
  var says_norm = 0.0;
  var turn = 0u;
  // The chunk that begins at `next` is asked for while the one at `done` is worked on; the first time round there is none.
  var done = 0u;
  for (var next = 0u; next < rows + CHUNK; next += CHUNK) {
    if (next < rows) {
      for (var i = 0u; i < FETCH; i++) {
        let e = min(index + i * THREADS, 2u * CHUNK * FOURS - 1u);
        let row = first_row + min(next + e / FOURS % CHUNK, rows - 1u);
        fetched[i] = four(row * ROW + (key_head + e / (CHUNK * FOURS) * KEY_HEADS) * KEY_DIM + e % FOURS * 4u);
      }
      for (var i = 0u; i < FETCH_VALUES; i++) {
        let e = min(index + i * THREADS, CHUNK * COLUMNS - 1u);
        let row = first_row + min(next + e / COLUMNS, rows - 1u);
        fetched_values[i] = conv[row * ROW + 2u * KEY_HEADS * KEY_DIM + head * VALUE_DIM + min(group.x * COLUMNS + e % COLUMNS, VALUE_DIM - 1u)];
      }
      if (index < CHUNK) {
        let row = first_row + min(next + index, rows - 1u);
        fetched_gates = vec2f(x[row * PITCH + ALPHA + head], x[row * PITCH + BETA + head]);
      }
    }
    if (next > 0u) {
      let count = min(CHUNK, rows - done);
      // What a row needs is read one row ahead: between the sum that a row waits for and the next row's there is only arithmetic.
      var k = held_part(CHUNK * FOURS, lane);
      var factor = factors[0];
      var value = learnt[in_tile];
      for (var r = 0u; r < count; r++) {
        var said = vec4f();
        for (var i = 0u; i < HELD; i++) { said += held[i] * k[i]; }
        let ahead = min(r + 1u, CHUNK - 1u);
        let q = held_part(r * FOURS, lane);
        let k_ahead = held_part((CHUNK + ahead) * FOURS, lane);
        let factor_ahead = factors[ahead];
        let value_ahead = learnt[ahead * COLUMNS + in_tile];
        let sums = lanes_sum(vec2f(dot(said, vec4f(1.0)), says), index, turn);
        turn++;
        if (lane == 0u && writes && done + r > 0u) {
          out[((first_row + done + r - 1u) * VALUE_HEADS + head) * VALUE_DIM + column] = sums.y * says_norm;
        }
        let change = (value - sums.x * factor.x * factor.w) * factor.y * factor.w;
        var answer = vec4f();
        for (var i = 0u; i < HELD; i++) {
          held[i] = held[i] * factor.x + k[i] * change;
          answer += held[i] * q[i];
        }
        says = dot(answer, vec4f(1.0));
        says_norm = factor.z;
        k = k_ahead;
        factor = factor_ahead;
        value = value_ahead;
      }
      workgroupBarrier();
    }
    done = next;
    if (next < rows) {
      for (var i = 0u; i < FETCH; i++) { heads[min(index + i * THREADS, 2u * CHUNK * FOURS - 1u)] = fetched[i]; }
      for (var i = 0u; i < FETCH_VALUES; i++) { learnt[min(index + i * THREADS, CHUNK * COLUMNS - 1u)] = fetched_values[i]; }
      workgroupBarrier();
      for (var e = index; e < CHUNK * SHARES; e += THREADS) {
        var q_squares = 0.0;
        var k_squares = 0.0;
        for (var i = e % SHARES; i < FOURS; i += SHARES) {
          let q = heads[e / SHARES * FOURS + i];
          let k = heads[(CHUNK + e / SHARES) * FOURS + i];
          q_squares += dot(q, q);
          k_squares += dot(k, k);
        }
        squares[e] = vec2f(q_squares, k_squares);
      }
      workgroupBarrier();
      if (index < CHUNK) {
        var sum = vec2f();
        for (var i = 0u; i < SHARES; i++) { sum += squares[index * SHARES + i]; }
        let norms = vec2f(SCALE, 1.0) / max(sqrt(sum), vec2f(EPSILON));
        factors[index] = vec4f(exp(decay_rate * softplus(fetched_gates.x + decay_bias)), 1.0 / (1.0 + exp(-fetched_gates.y)), norms);
      }
      workgroupBarrier();
    }
  }
  let last = lanes_sum(vec2f(0.0, says), index, turn);
  if (lane == 0u && writes && rows > 0u) { out[((first_row + rows - 1u) * VALUE_HEADS + head) * VALUE_DIM + column] = last.y * says_norm; }
  for (var i = 0u; i < HELD; i++) {
    if (writes && lane + i * LANES < FOURS) { state[at + i * LANES] = held[i]; }
  }
}
