struct BatchSize { rows: u32, segments: u32, unused: vec2u }
@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> keys: array<KvCell>;
@group(0) @binding(3) var<storage, read> values: array<KvCell>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(5) var<uniform> batch: BatchSize;

const FOURS = DIM / 4u;
const WORKGROUP = 128u;
const ROWS = 32u;   // Of a tile of queries,
const SEEN = 32u;   // and of a tile of positions.
const EACH = ROWS * FOURS / WORKGROUP;  // Rows whose output a thread gathers four elements of.
const LOWEST = -3.0e38;

var<workgroup> query: array<vec4f, ROWS * FOURS>;
var<workgroup> tile: array<vec4f, SEEN * FOURS>;  // Keys, then values.
var<workgroup> weights: array<f32, ROWS * SEEN>;
var<workgroup> parts: array<f32, ROWS * 4u>;
var<workgroup> tops: array<f32, ROWS>;
var<workgroup> sums: array<f32, ROWS>;
var<workgroup> shrinks: array<f32, ROWS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let head = group.x;
  let first_row = group.y * ROWS;
  let rows = min(ROWS, batch.rows - first_row);
  let here = places[first_row];
  let position = here.y;
  let positions = position + rows;  // Seen by the last row.
  let base = (here.x * KV_HEADS + head / (HEADS / KV_HEADS)) * CONTEXT * FOURS;
  for (var i = index; i < ROWS * FOURS; i += WORKGROUP) {
    var four = vec4f();
    if (i / FOURS < rows) {
      let at = (first_row + i / FOURS) * PITCH + head * Q_STRIDE + 4u * (i % FOURS);
      four = SCALE * vec4f(queries[at], queries[at + 1u], queries[at + 2u], queries[at + 3u]);
    }
    query[i] = four;
  }
  if (index < ROWS) {
    tops[index] = LOWEST;
    sums[index] = 0.0;
  }
  let four = index % FOURS;
  let gather_row = index / FOURS * EACH;
  var gather = array<vec4f, EACH>();
  let score_row = index / 16u * 4u;
  let score_column = index % 16u * 2u;
  let soft_row = index / 4u;
  let soft_column = index % 4u * 8u;

  for (var first = 0u; first < positions; first += SEEN) {
    for (var i = index; i < SEEN * FOURS; i += WORKGROUP) {
      tile[i] = key_at(base + min(first + i / FOURS, positions - 1u) * FOURS + i % FOURS);
    }
    workgroupBarrier();
    var scores = array<vec2f, 4>();
    for (var i = 0u; i < FOURS; i++) {
      let left = tile[score_column * FOURS + i];
      let right = tile[(score_column + 1u) * FOURS + i];
      for (var r = 0u; r < 4u; r++) {
        let q = query[(score_row + r) * FOURS + i];
        scores[r] += vec2f(dot(q, left), dot(q, right));
      }
    }
    for (var r = 0u; r < 4u; r++) {
      let last = position + score_row + r;
      let at = (score_row + r) * SEEN + score_column;
      weights[at] = select(scores[r].x, LOWEST, first + score_column > last);
      weights[at + 1u] = select(scores[r].y, LOWEST, first + score_column + 1u > last);
    }
    workgroupBarrier();
    for (var i = index; i < SEEN * FOURS; i += WORKGROUP) {
      tile[i] = value_at(base + min(first + i / FOURS, positions - 1u) * FOURS + i % FOURS);
    }
    var top = LOWEST;
    for (var i = 0u; i < 8u; i++) { top = max(top, weights[soft_row * SEEN + soft_column + i]); }
    parts[index] = top;
    workgroupBarrier();
    let old_top = tops[soft_row];
    let new_top = max(max(old_top, max(parts[soft_row * 4u], parts[soft_row * 4u + 1u])), max(parts[soft_row * 4u + 2u], parts[soft_row * 4u + 3u]));
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) {
      let at = soft_row * SEEN + soft_column + i;
      let weight = select(0.0, exp(weights[at] - new_top), weights[at] > LOWEST);
      weights[at] = weight;
      sum += weight;
    }
    workgroupBarrier();
    parts[index] = sum;
    workgroupBarrier();
    if (index % 4u == 0u) {
      let shrink = exp(old_top - new_top);
      shrinks[soft_row] = shrink;
      sums[soft_row] = sums[soft_row] * shrink + parts[index] + parts[index + 1u] + parts[index + 2u] + parts[index + 3u];
      tops[soft_row] = new_top;
    }
    workgroupBarrier();
    for (var e = 0u; e < EACH; e++) { gather[e] *= shrinks[gather_row + e]; }
    for (var p = 0u; p < SEEN; p++) {
      let v = tile[p * FOURS + four];
      for (var e = 0u; e < EACH; e++) { gather[e] += weights[(gather_row + e) * SEEN + p] * v; }
    }
    workgroupBarrier();
  }
  for (var e = 0u; e < EACH; e++) {
    let r = gather_row + e;
    if (r < rows) {
      var total = gather[e] / sums[r];
      if (GATED) {
        let gate = (first_row + r) * PITCH + head * Q_STRIDE + DIM + 4u * four;
        total /= 1.0 + exp(-vec4f(queries[gate], queries[gate + 1u], queries[gate + 2u], queries[gate + 3u]));
      }
      out[((first_row + r) * HEADS + head) * FOURS + four] = total;
    }
  }
}
