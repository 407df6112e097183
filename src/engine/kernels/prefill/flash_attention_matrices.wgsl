// A subgroup takes MATRIX_M rows of one query head; the subgroups of a workgroup share the tile of keys, which gives way to that of
// values. Scores go through workgroup memory, where the subgroup's lanes make weights of them, LANES of them a row.
//
// Sums are of weights exp(score - top). `top` follows the largest score only when that is more than 8 above it, since then what was
// gathered has to go through workgroup memory to be shrunk; until then weights grow to exp(8), which f16 holds.
// Keys and values are asked for before the matrices that are multiplied in the meantime, without a branch between that and where they
// are used: behind one, drivers ask for them where they are used.
// Statements over matrices and over what a thread carries are written out by flash_attention.cpp.
@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position, run, rows of its text
@group(0) @binding(2) var<storage, read> keys: array<KvCell>;
@group(0) @binding(3) var<storage, read> values: array<KvCell>;
@group(0) @binding(4) var<storage, read_write> out: array<OutCell>;
@group(0) @binding(5) var<storage, read> tiles: array<vec2u>;  // first row, rows

alias Left = subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>;
alias Right = subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>;
alias Sum = subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;

const FOURS = DIM / 4u;
const CELLS = DIM / 8u;
const LINE = CELLS + 1u;  // Rows one cell of eight apart, so that they meet different banks.
const SUBGROUPS = ROWS / MATRIX_M;
const THREADS = SUBGROUPS * SUBGROUP;
const LANES = SUBGROUP / MATRIX_M;
const SCORE_LINE = POSITIONS / 4u + 1u;
const SCORES = MATRIX_M * SCORE_LINE;  // Cells of a subgroup.
const WEIGHT_LINE = POSITIONS / 8u + 1u;
const WEIGHTS = MATRIX_M * WEIGHT_LINE;
const PATCH_LINE = MATRIX_N / 4u;
const SCORES_EACH = POSITIONS / 4u / LANES;  // Fours of scores of a lane.
const NOTHING = -3.0e38;

var<workgroup> query: array<vec4u, ROWS * LINE>;
var<workgroup> tile: array<vec4u, POSITIONS * LINE>;
var<workgroup> scores: array<vec4u, SUBGROUPS * SCORES>;    // f32
var<workgroup> weights: array<vec4u, SUBGROUPS * WEIGHTS>;  // f16; or a matrix of sums
var<workgroup> sums: array<f32, ROWS>;
var<workgroup> grown: array<u32, SUBGROUPS>;
var<workgroup> shared_range: vec4u;

fn halves(a: vec4f, b: vec4f) -> vec4u { return vec4u(bitcast<vec2u>(vec4<f16>(a)), bitcast<vec2u>(vec4<f16>(b))); }
fn query_four(at: u32) -> vec4f {
  return clamp(SCALE * vec4f(queries[at], queries[at + 1u], queries[at + 2u], queries[at + 3u]), vec4f(-65504.0), vec4f(65504.0));
}
fn row_max(value: f32) -> f32 {
  var top = value;
  for (var distance = 1u; distance < LANES; distance *= 2u) { top = max(top, subgroupShuffleXor(top, distance)); }
  return top;
}
fn row_sum(value: f32) -> f32 {
  var sum = value;
  for (var distance = 1u; distance < LANES; distance *= 2u) { sum += subgroupShuffleXor(sum, distance); }
  return sum;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32, @builtin(subgroup_id) subgroup: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
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
  for (var i = index; i < ROWS * CELLS; i += THREADS) {
    let at = (first_row + min(i / CELLS, rows - 1u)) * PITCH + head * Q_STRIDE + i % CELLS * 8u;
    query[i / CELLS * LINE + i % CELLS] = halves(query_four(at), query_four(at + 4u));
  }
  let q_from = subgroup * MATRIX_M * LINE;
  let scores_from = subgroup * SCORES;
  let weights_from = subgroup * WEIGHTS;
  let row = subgroup * MATRIX_M + lane / LANES;
  let part = lane % LANES;
  let my_scores = scores_from + lane / LANES * SCORE_LINE + part * SCORES_EACH;
  // The row's own position; of whole texts the text's last one.
  let last = select(range.w + min(row, rows - 1u), range.w - 1u, WHOLE);

  var top = NOTHING;
  var sum = 0.0;  // The sum of the lane's own part.
//@outputs
  let oldest = select(range.w - min(range.w, SEEN_BEFORE), 0u, WHOLE);  // What the first row sees begins there.
  let last_tile = oldest + (end - oldest - 1u) / POSITIONS * POSITIONS;
//@places
  {
    let at = oldest;
//@fetch_keys
//@put_keys
  }
  for (var first = oldest; first < end; first += POSITIONS) {
    workgroupBarrier();
    let at = first;
//@fetch_values
    {
//@scores
    }
    workgroupBarrier();
//@put_values
    var mine = array<vec4f, SCORES_EACH>();
    var largest = NOTHING;
    for (var i = 0u; i < SCORES_EACH; i++) {
      let position = vec4u(first + (part * SCORES_EACH + i) * 4u) + vec4u(0u, 1u, 2u, 3u);
      mine[i] = select(vec4f(NOTHING), bitcast<vec4f>(scores[my_scores + i]),
                       (position <= vec4u(last)) & (vec4u(last) - position <= vec4u(SEEN_BEFORE)));
      largest = max(max(largest, max(mine[i].x, mine[i].y)), max(mine[i].z, mine[i].w));
    }
    largest = row_max(largest);
    if (first == oldest) { top = largest; }
    let grows = subgroupAny(largest > top + 8.0);
    if (lane == 0u) { grown[subgroup] = u32(grows); }
    let all_grown = workgroupUniformLoad(&grown);
    var any = 0u;
    for (var i = 0u; i < SUBGROUPS; i++) { any |= all_grown[i]; }
    if (any != 0u) {
      let new_top = max(top, largest);
      let shrink = exp(top - new_top);
      top = new_top;
      sum *= shrink;
//@shrink
    }
    for (var i = 0u; i < SCORES_EACH; i += 2u) {
      let a = exp(mine[i] - top);
      let b = exp(mine[i + 1u] - top);
      sum += dot(a + b, vec4f(1.0));
      weights[weights_from + lane / LANES * WEIGHT_LINE + (part * SCORES_EACH + i) / 2u] = halves(a, b);
    }
    workgroupBarrier();
    {
      let at = min(first + POSITIONS, last_tile);
//@fetch_keys
      {
//@gather
      }
      workgroupBarrier();
//@put_keys
    }
  }
  sum = row_sum(sum);
  if (part == 0u) { sums[row] = sum; }
//@finish
}

// The lane's share of a matrix of sums, times its row's factor.
fn shrink_patch(begin: u32, lane: u32, shrink: f32) {
  let each = PATCH_LINE / LANES;
  for (var i = 0u; i < each; i++) {
    let at = begin + lane / LANES * PATCH_LINE + lane % LANES * each + i;
    weights[at] = bitcast<vec4u>(bitcast<vec4f>(weights[at]) * shrink);
  }
}

fn finish_patch(begin: u32, lane: u32, subgroup: u32, head: u32, first_row: u32, rows: u32, column: u32) {
  for (var i = lane; i < MATRIX_M * PATCH_LINE; i += SUBGROUP) {
    let row = subgroup * MATRIX_M + i / PATCH_LINE;
    if (row >= rows) { continue; }
    let four = column / 4u + i % PATCH_LINE;
    var total = bitcast<vec4f>(weights[begin + i]) / sums[row];
    if (GATED) {
      let gate = (first_row + row) * PITCH + head * Q_STRIDE + DIM + 4u * four;
      total /= 1.0 + exp(-vec4f(queries[gate], queries[gate + 1u], queries[gate + 2u], queries[gate + 3u]));
    }
    out[((first_row + row) * HEADS + head) * FOURS + four] = out_cell(total);
  }
}
