// ROWS rows of one query head, row_threads = TEAM threads a row: each takes every TEAM-th position of a tile for the scores, and every TEAM-th
// four of the output. The tile of keys gives way to that of values.
// A row that sees nothing of the first tiles gathers from them until it meets a score of its own: that makes `shrink` 0.
@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position, run, rows of its text
@group(0) @binding(2) var<storage, read> keys: array<KvCell>;
@group(0) @binding(3) var<storage, read> values: array<KvCell>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(5) var<storage, read> tiles: array<vec2u>;  // first row, rows

const FOURS = DIM / 4u;
const LINE = FOURS + 1u;  // Rows one four apart, so that they meet different banks.
const THREADS = ROWS * TEAM;
const EACH = (FOURS + TEAM - 1u) / TEAM;
const SCORE_LINE = POSITIONS + 1u;
const NOTHING = -3.0e38;

var<workgroup> query: array<vec4f, ROWS * LINE>;
var<workgroup> tile: array<vec4f, POSITIONS * LINE>;
var<workgroup> scores: array<f32, ROWS * SCORE_LINE>;
var<workgroup> shared_range: vec4u;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let head = group.x;
  if (index == 0u) {
    let rows = tiles[group.y];
    let place = places[rows.x];
    shared_range = vec4u(rows, place.x, select(place.y, place.w, WHOLE));
  }
  let range = workgroupUniformLoad(&shared_range);
  let first_row = range.x;
  let rows = range.y;
  let end = range.w + select(rows, 0u, WHOLE);
  let kv_head = head / (HEADS / KV_HEADS);
  for (var i = index; i < ROWS * FOURS; i += THREADS) {
    let at = (first_row + min(i / FOURS, rows - 1u)) * PITCH + head * Q_STRIDE + i % FOURS * 4u;
    query[i / FOURS * LINE + i % FOURS] = SCALE * vec4f(queries[at], queries[at + 1u], queries[at + 2u], queries[at + 3u]);
  }
  let row = index % ROWS;
  let part = index / ROWS;
  // The row's own position; of whole texts the text's last one.
  let last = select(range.w + min(row, rows - 1u), range.w - 1u, WHOLE);

  var gathered: array<vec4f, EACH>;
  var top = NOTHING;
  var sum = 0.0;
  let oldest = select(range.w - min(range.w, SEEN_BEFORE), 0u, WHOLE);  // What the first row sees begins there.
  for (var first = oldest; first < end; first += POSITIONS) {
    for (var i = index; i < POSITIONS * FOURS; i += THREADS) {
      tile[i / FOURS * LINE + i % FOURS] = key_at(kv_row(range.z, kv_head, min(first + i / FOURS, end - 1u)) + i % FOURS);
    }
    workgroupBarrier();
    var score = array<f32, POSITIONS / TEAM>();
    for (var i = 0u; i < FOURS; i++) {
      let q = query[row * LINE + i];
      for (var j = 0u; j < POSITIONS / TEAM; j++) { score[j] += dot(q, tile[(part + j * TEAM) * LINE + i]); }
    }
    for (var j = 0u; j < POSITIONS / TEAM; j++) {
      let position = first + part + j * TEAM;
      scores[row * SCORE_LINE + part + j * TEAM] = select(NOTHING, score[j], position <= last && last - position <= SEEN_BEFORE);
    }
    workgroupBarrier();
    for (var i = index; i < POSITIONS * FOURS; i += THREADS) {
      tile[i / FOURS * LINE + i % FOURS] = value_at(kv_row(range.z, kv_head, min(first + i / FOURS, end - 1u)) + i % FOURS);
    }
    var new_top = top;
    for (var p = 0u; p < POSITIONS; p++) { new_top = max(new_top, scores[row * SCORE_LINE + p]); }
    let shrink = exp(top - new_top);
    top = new_top;
    sum *= shrink;
    for (var e = 0u; e < EACH; e++) { gathered[e] *= shrink; }
    workgroupBarrier();
    for (var p = 0u; p < POSITIONS; p++) {
      let weight = exp(scores[row * SCORE_LINE + p] - top);
      sum += weight;
      for (var e = 0u; e < EACH; e++) {
        if (part + e * TEAM < FOURS) { gathered[e] += weight * tile[p * LINE + part + e * TEAM]; }
      }
    }
    workgroupBarrier();
  }
  if (row >= rows) { return; }
  for (var e = 0u; e < EACH; e++) {
    let four = part + e * TEAM;
    if (four >= FOURS) { continue; }
    var total = gathered[e] / sum;
    if (GATED) {
      let gate = (first_row + row) * PITCH + head * Q_STRIDE + DIM + 4u * four;
      total /= 1.0 + exp(-vec4f(queries[gate], queries[gate + 1u], queries[gate + 2u], queries[gate + 3u]));
    }
    out[((first_row + row) * HEADS + head) * FOURS + four] = total;
  }
}
