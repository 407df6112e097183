// Attention of one row and head by one workgroup, for contexts short enough that sharing them out costs more than it saves.
@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> turns: array<vec2f>;
@group(0) @binding(3) var<storage, read> norms: array<f32>;  // of queries, then of keys
@group(0) @binding(4) var<storage, read_write> keys: array<KvCell>;
@group(0) @binding(5) var<storage, read_write> values: array<KvCell>;
@group(0) @binding(6) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> out_scales: array<vec2f>;

const GROUP = HEADS / KV_HEADS;  // Query heads that share a key head.
const FOURS = DIM / 4u;
const PARTS = WORKGROUP / FOURS;
const TILE = WORKGROUP / 4u;    // Positions at a time: four threads share a key.
const CELLS = FOURS / 4u;       // Cells of a key, and of values, that one thread reads.
const LOWEST = -3.0e38;

var<workgroup> query: array<vec4f, FOURS>;
var<workgroup> new_key: array<vec4f, FOURS>;
var<workgroup> new_value: array<vec4f, FOURS>;
var<workgroup> head: array<f32, DIM>;  // For the cache.
var<workgroup> head_factor: array<f32, 2>;
var<workgroup> scores: array<f32, WORKGROUP>;  // A quarter each.
var<workgroup> gathered: array<vec4f, WORKGROUP>;

fn score_at(i: u32) -> f32 { return scores[4u * i] + scores[4u * i + 1u] + scores[4u * i + 2u] + scores[4u * i + 3u]; }

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let q_head = group.x;
  let row = group.y;
  let kv_head = q_head / GROUP;
  let here = places[row];
  let position = here.y;
  // A row with more positions is shared out by decode_attention.wgsl.
  if (SPLIT_FROM > 0u && position + 1u >= SPLIT_FROM) { return; }
  let q_start = row * PITCH + q_head * Q_STRIDE;
  let k_start = row * PITCH + K_OFFSET + kv_head * DIM;
  let v_start = row * PITCH + V_OFFSET + kv_head * DIM;
  let part = index / FOURS;
  let four = index % FOURS;
  let own = index / 4u;      // Position in a tile,
  let quarter = index % 4u;  // and part of its key.
  let oldest = position - min(position, SEEN_BEFORE);
  // Keys and values are asked for before anything is worked out.
  var k = array<vec4f, CELLS>();
  var v = array<vec4f, CELLS>();
  if (oldest < position) {
    let key = kv_row(here.x, kv_head, min(oldest + own, position - 1u)) + quarter * CELLS;
    for (var i = 0u; i < CELLS; i++) { k[i] = key_at(key + i); }
    for (var i = 0u; i < CELLS; i++) { v[i] = value_at(kv_row(here.x, kv_head, min(oldest + part + i * PARTS, position - 1u)) + four); }
  }
  if (NORM) {
    let start = select(k_start, q_start, team == 0u);
    var squares = 0.0;
    for (var e = lane; e < DIM; e += TEAM) { squares += qkv[start + e] * qkv[start + e]; }
    let whole = team_sum(squares, index);
    if (lane == 0u && team < 2u) { head_factor[team] = inverseSqrt(whole / f32(DIM) + EPSILON); }
    workgroupBarrier();
  }
  for (var i = index; i < 3u * FOURS; i += WORKGROUP) {
    if (i < FOURS) {
      query[i] = SCALE * turned4(q_start, i, head_factor[0], 0u, position);
    } else if (i < 2u * FOURS) {
      new_key[i - FOURS] = turned4(k_start, i - FOURS, head_factor[1], DIM, position);
    } else {
      let at = v_start + 4u * (i - 2u * FOURS);
      new_value[i - 2u * FOURS] = vec4f(qkv[at], qkv[at + 1u], qkv[at + 2u], qkv[at + 3u]);
    }
  }
  workgroupBarrier();

  var gather = vec4f();
  var top = LOWEST;
  var sum = 0.0;
  for (var first = oldest; first < position; first += TILE) {
    if (first > oldest) {
      let key = kv_row(here.x, kv_head, min(first + own, position - 1u)) + quarter * CELLS;
      for (var i = 0u; i < CELLS; i++) { k[i] = key_at(key + i); }
      for (var i = 0u; i < CELLS; i++) { v[i] = value_at(kv_row(here.x, kv_head, min(first + part + i * PARTS, position - 1u)) + four); }
    }
    var score = 0.0;
    for (var i = 0u; i < CELLS; i++) { score += dot(query[quarter * CELLS + i], k[i]); }
    scores[index] = select(score, LOWEST, first + own >= position);
    workgroupBarrier();
    // Every team finds the same maximum and the same sum.
    var best = LOWEST;
    for (var i = lane; i < TILE; i += TEAM) { best = max(best, select(score_at(i), LOWEST, first + i >= position)); }
    let new_top = max(top, team_max(best, index));
    var weight = 0.0;
    for (var i = lane; i < TILE; i += TEAM) { weight += select(exp(score_at(i) - new_top), 0.0, first + i >= position); }
    let shrink = exp(top - new_top);
    sum = sum * shrink + team_sum(weight, index);
    gather *= shrink;
    for (var i = 0u; i < CELLS; i++) {
      let at = part + i * PARTS;
      gather += select(exp(score_at(at) - new_top), 0.0, first + at >= position) * v[i];
    }
    top = new_top;
    workgroupBarrier();
  }

  // The row itself.
  var score = 0.0;
  for (var i = lane; i < FOURS; i += TEAM) { score += dot(query[i], new_key[i]); }
  let whole = team_sum(score, index);
  let new_top = max(top, whole);
  let shrink = exp(top - new_top);
  let weight = exp(whole - new_top);
  gather *= shrink;
  if (part == 0u) { gather += weight * new_value[four]; }
  sum = sum * shrink + weight;

  gathered[index] = gather;
  workgroupBarrier();
  for (var half = PARTS / 2u; half > 0u; half /= 2u) {
    if (part < half) { gathered[index] += gathered[index + half * FOURS]; }
    workgroupBarrier();
  }
  if (index < FOURS) {
    var total = gathered[index] / sum;
    if (GATED) {
      let gate = q_start + DIM + 4u * index;
      total /= 1.0 + exp(-vec4f(qkv[gate], qkv[gate + 1u], qkv[gate + 2u], qkv[gate + 3u]));
    }
    gathered[index] = total;
  }
  workgroupBarrier();
  if (index < FOURS / 8u) {
    var block: array<vec4f, 8>;
    for (var i = 0u; i < 8u; i++) { block[i] = gathered[index * 8u + i]; }
    let made = quantize_block(block);
    let to = (row * HEADS + q_head) * (FOURS / 4u) + index * 2u;
    out_quants[to] = made.low;
    out_quants[to + 1u] = made.high;
    out_scales[to] = made.low_scale;
    out_scales[to + 1u] = made.high_scale;
  }
  // The row's key and value stay for those that come after it.
  if (q_head % GROUP == 0u) {
    for (var i = index; i < DIM; i += WORKGROUP) { head[i] = new_key[i / 4u][i % 4u]; }
    workgroupBarrier();
    let to = kv_row(here.x, kv_head, position);
    store_key(to, index);
    workgroupBarrier();
    for (var i = index; i < DIM; i += WORKGROUP) { head[i] = new_value[i / 4u][i % 4u]; }
    workgroupBarrier();
    store_value(to, index);
  }
}
