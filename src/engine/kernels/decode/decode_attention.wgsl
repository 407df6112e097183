// Attention of one row over what its sequence remembers and over itself, a share of the positions for every workgroup.
@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> turns: array<vec2f>;
@group(0) @binding(3) var<storage, read> norms: array<f32>;  // of queries, then of keys
@group(0) @binding(4) var<storage, read_write> keys: array<KvCell>;
@group(0) @binding(5) var<storage, read_write> values: array<KvCell>;
@group(0) @binding(6) var<storage, read_write> shares: array<vec4f>;  // [row][head][split][FOURS + 1]; the last: max and sum

const GROUP = HEADS / KV_HEADS;  // Query heads that share a key head.
const FOURS = DIM / 4u;
const PARTS = WORKGROUP / FOURS;
const LOWEST = -3.0e38;

var<workgroup> query: array<vec4f, GROUP * FOURS>;
var<workgroup> new_key: array<vec4f, FOURS>;
var<workgroup> head: array<f32, DIM>;
var<workgroup> head_factor: array<f32, GROUP + 1u>;
var<workgroup> weights: array<f32, GROUP * WORKGROUP>;
var<workgroup> tops: array<f32, GROUP>;
var<workgroup> sums: array<f32, GROUP>;
var<workgroup> shrinks: array<f32, GROUP>;
var<workgroup> gathered: array<vec4f, WORKGROUP>;
var<workgroup> place: vec4u;

// Element e of the head at `start`, normed and turned.
fn normed(start: u32, e: u32, factor: f32, norm: u32) -> f32 {
  if (NORM) { return qkv[start + e] * factor * norms[norm + e]; }
  return qkv[start + e];
}
fn turned(start: u32, e: u32, factor: f32, norm: u32, position: u32) -> f32 {
  let own = normed(start, e, factor, norm);
  if (e >= 2u * PAIRS) { return own; }
  let pair = select(e / 2u, e % PAIRS, HALVES);
  let second = select((e & 1u) == 1u, e >= PAIRS, HALVES);
  let other = normed(start, select(e ^ 1u, select(e + PAIRS, e - PAIRS, second), HALVES), factor, norm);
  let turn = turns[position * PAIRS + pair];
  return own * turn.x + select(-other, other, second) * turn.y;
}
fn turned4(start: u32, four: u32, factor: f32, norm: u32, position: u32) -> vec4f {
  let e = 4u * four;
  return vec4f(turned(start, e, factor, norm, position), turned(start, e + 1u, factor, norm, position),
               turned(start, e + 2u, factor, norm, position), turned(start, e + 3u, factor, norm, position));
}

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let kv_head = group.x;
  let split = group.y;
  let row = group.z;
  if (index == 0u) { place = places[row]; }
  let here = workgroupUniformLoad(&place);
  let position = here.y;
  let q_start = row * PITCH + kv_head * GROUP * Q_STRIDE;
  let k_start = row * PITCH + K_OFFSET + kv_head * DIM;
  let v_start = row * PITCH + V_OFFSET + kv_head * DIM;
  let last = split == SPLITS - 1u;  // It sees the row itself, too.

  if (NORM) {
    for (var first = 0u; first < GROUP + 1u; first += TEAMS) {
      let h = min(first + team, GROUP);
      let start = select(q_start + h * Q_STRIDE, k_start, h == GROUP);
      var squares = 0.0;
      for (var e = lane; e < DIM; e += TEAM) { squares += qkv[start + e] * qkv[start + e]; }
      let whole = team_sum(squares, index);
      if (lane == 0u) { head_factor[h] = inverseSqrt(whole / f32(DIM) + EPSILON); }
    }
    workgroupBarrier();
  }
  for (var i = index; i < GROUP * FOURS; i += WORKGROUP) {
    let h = i / FOURS;
    query[i] = SCALE * turned4(q_start + h * Q_STRIDE, i % FOURS, head_factor[h], 0u, position);
  }
  if (last) {
    for (var i = index; i < FOURS; i += WORKGROUP) {
      let k = turned4(k_start, i, head_factor[GROUP], DIM, position);
      new_key[i] = k;
      head[4u * i] = k.x;
      head[4u * i + 1u] = k.y;
      head[4u * i + 2u] = k.z;
      head[4u * i + 3u] = k.w;
    }
  }
  if (index < GROUP) {
    tops[index] = LOWEST;
    sums[index] = 0.0;
  }
  workgroupBarrier();

  let base = (here.x * KV_HEADS + kv_head) * CONTEXT * FOURS;
  let share = (position + SPLITS - 1u) / SPLITS;
  let begin = min(split * share, position);
  let end = min(begin + share, position);
  let part = index / FOURS;
  let four = index % FOURS;
  var gather: array<vec4f, GROUP>;
  for (var first = begin; first < end; first += WORKGROUP) {
    // A position for each thread.
    let p = first + index;
    var scores: array<f32, GROUP>;
    for (var h = 0u; h < GROUP; h++) { scores[h] = select(LOWEST, 0.0, p < end); }
    if (p < end) {
      for (var i = 0u; i < FOURS; i++) {
        let k = key_at(base + p * FOURS + i);
        for (var h = 0u; h < GROUP; h++) { scores[h] += dot(query[h * FOURS + i], k); }
      }
    }
    for (var h = 0u; h < GROUP; h++) { weights[h * WORKGROUP + index] = scores[h]; }
    workgroupBarrier();
    // A head for each team.
    for (var first_head = 0u; first_head < GROUP; first_head += TEAMS) {
      let h = min(first_head + team, GROUP - 1u);
      var top = LOWEST;
      for (var i = lane; i < WORKGROUP; i += TEAM) { top = max(top, weights[h * WORKGROUP + i]); }
      let new_top = max(tops[h], team_max(top, index));
      let mine = first_head + team < GROUP;
      var sum = 0.0;
      for (var i = lane; i < WORKGROUP; i += TEAM) {
        let weight = select(0.0, exp(weights[h * WORKGROUP + i] - new_top), first + i < end);
        if (mine) { weights[h * WORKGROUP + i] = weight; }
        sum += weight;
      }
      let whole = team_sum(sum, index);
      if (mine && lane == 0u) {
        shrinks[h] = exp(tops[h] - new_top);
        sums[h] = sums[h] * shrinks[h] + whole;
        tops[h] = new_top;
      }
    }
    workgroupBarrier();
    // Four elements of the output for each thread.
    for (var h = 0u; h < GROUP; h++) { gather[h] *= shrinks[h]; }
    if (part < PARTS) {
      let count = min(WORKGROUP, end - first);
      for (var i = part; i < count; i += PARTS) {
        let v = value_at(base + (first + i) * FOURS + four);
        for (var h = 0u; h < GROUP; h++) { gather[h] += weights[h * WORKGROUP + i] * v; }
      }
    }
    workgroupBarrier();
  }

  if (last) {
    for (var first_head = 0u; first_head < GROUP; first_head += TEAMS) {
      let h = min(first_head + team, GROUP - 1u);
      var score = 0.0;
      for (var i = lane; i < FOURS; i += TEAM) { score += dot(query[h * FOURS + i], new_key[i]); }
      let whole = team_sum(score, index);
      if (first_head + team < GROUP && lane == 0u) {
        let new_top = max(tops[h], whole);
        shrinks[h] = exp(tops[h] - new_top);
        weights[h] = exp(whole - new_top);
        sums[h] = sums[h] * shrinks[h] + weights[h];
        tops[h] = new_top;
      }
    }
    // The row's key and value stay for those that come after it.
    store_key(base + position * FOURS, index);
    workgroupBarrier();
    for (var i = index; i < DIM; i += WORKGROUP) { head[i] = qkv[v_start + i]; }
    workgroupBarrier();
    store_value(base + position * FOURS, index);
    for (var h = 0u; h < GROUP; h++) {
      gather[h] *= shrinks[h];
      if (part == 0u) {
        gather[h] += weights[h] * vec4f(head[4u * four], head[4u * four + 1u], head[4u * four + 2u], head[4u * four + 3u]);
      }
    }
  }
  for (var h = 0u; h < GROUP; h++) {
    gathered[index] = gather[h];
    workgroupBarrier();
    let to = ((row * HEADS + kv_head * GROUP + h) * SPLITS + split) * (FOURS + 1u);
    if (index < FOURS) {
      var total = gathered[index];
      for (var i = 1u; i < PARTS; i++) { total += gathered[i * FOURS + index]; }
      shares[to + index] = total;
    }
    if (index == 0u) { shares[to + FOURS] = vec4f(tops[h], sums[h], 0.0, 0.0); }
    workgroupBarrier();
  }
}
