// Attention of one row over what its sequence remembers and over itself. A workgroup takes a share of the positions, and where there
// are fewer workgroups than shares (many rows) one share after the other: the shares' numbers are the same.
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
const TILE = WORKGROUP / 4u;                     // Positions at a time: four threads share a key.
const KEY_CELLS = FOURS / 4u;                    // Cells of a key that one thread reads.
const VALUE_CELLS = (TILE + PARTS - 1u) / PARTS; // Values of a thread.
const LOWEST = -3.0e38;

var<workgroup> query: array<vec4f, GROUP * FOURS>;
var<workgroup> new_key: array<vec4f, FOURS>;
var<workgroup> head: array<f32, DIM>;  // For the cache.
var<workgroup> new_value: array<f32, DIM>;
var<workgroup> head_factor: array<f32, GROUP + 1u>;
var<workgroup> scores: array<f32, GROUP * WORKGROUP>;  // A quarter each.
var<workgroup> weights: array<f32, GROUP * TILE>;
var<workgroup> tops: array<f32, GROUP>;
var<workgroup> sums: array<f32, GROUP>;
var<workgroup> shrinks: array<f32, GROUP>;
var<workgroup> gathered: array<vec4f, HEADS_AT_ONCE * WORKGROUP>;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let kv_head = group.x;
  let row = group.z;
  let here = places[row];
  let position = here.y;
  // A row with fewer positions is whole_attention.wgsl's.
  if (position + 1u < SPLIT_FROM) { return; }
  let q_start = row * PITCH + kv_head * GROUP * Q_STRIDE;
  let k_start = row * PITCH + K_OFFSET + kv_head * DIM;
  let v_start = row * PITCH + V_OFFSET + kv_head * DIM;
  let share = share_of(position);
  let used = shares_of(position);
  if (group.y > used) { return; }

  let oldest = position - before(position);
  let part = index / FOURS;
  let four = index % FOURS;
  let own = index / 4u;  // Position in a tile,
  let quarter = index % 4u;  // and part of its key.
  // Keys and values are asked for before anything is worked out: here, and below as soon as the last ones have been used.
  var k = array<vec4f, KEY_CELLS>();
  var v = array<vec4f, VALUE_CELLS>();
  if (group.y < used) {
    let first = oldest + group.y * share;
    let last = min(first + share, position) - 1u;
    let key = kv_row(here.x, kv_head, min(first + own, last)) + quarter * KEY_CELLS;
    for (var i = 0u; i < KEY_CELLS; i++) { k[i] = key_at(key + i); }
    for (var i = 0u; i < VALUE_CELLS; i++) { v[i] = value_at(kv_row(here.x, kv_head, min(first + part + i * PARTS, last)) + four); }
  }

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

  for (var split = group.y; split <= used; split += groups.y) {
    let own_row = split == used;  // The row itself, behind those that share what is remembered.
    let begin = select(min(oldest + split * share, position), position, own_row);
    let end = min(begin + share, position);
    let next_split = split + groups.y;
    if (own_row) {
      for (var i = index; i < FOURS; i += WORKGROUP) {
        let key = turned4(k_start, i, head_factor[GROUP], DIM, position);
        new_key[i] = key;
        head[4u * i] = key.x;
        head[4u * i + 1u] = key.y;
        head[4u * i + 2u] = key.z;
        head[4u * i + 3u] = key.w;
      }
      for (var i = index; i < DIM; i += WORKGROUP) { new_value[i] = qkv[v_start + i]; }
    }
    if (index < GROUP) {
      tops[index] = LOWEST;
      sums[index] = 0.0;
    }
    workgroupBarrier();
    var gather = array<vec4f, GROUP>();
    for (var first = begin; first < end; first += TILE) {
      // What is read next: this share's next tile, or the next share's first.
      let on = first + TILE < end;
      let next = select(oldest + next_split * share, first + TILE, on);
      let next_last = select(min(next + share, position), end, on) - 1u;
      let more = on || next_split < used;
      for (var h = 0u; h < GROUP; h++) {
        var score = 0.0;
        for (var i = 0u; i < KEY_CELLS; i++) { score += dot(query[h * FOURS + quarter * KEY_CELLS + i], k[i]); }
        scores[h * WORKGROUP + index] = score;
      }
      if (more) {
        let key = kv_row(here.x, kv_head, min(next + own, next_last)) + quarter * KEY_CELLS;
        for (var i = 0u; i < KEY_CELLS; i++) { k[i] = key_at(key + i); }
      }
      workgroupBarrier();
      // A head for each team.
      for (var first_head = 0u; first_head < GROUP; first_head += TEAMS) {
        let h = min(first_head + team, GROUP - 1u);
        let mine = first_head + team < GROUP;
        var top = LOWEST;
        for (var i = lane; i < TILE; i += TEAM) {
          let at = h * WORKGROUP + i * 4u;
          let score = select(LOWEST, scores[at] + scores[at + 1u] + scores[at + 2u] + scores[at + 3u], first + i < end);
          if (mine) { weights[h * TILE + i] = score; }
          top = max(top, score);
        }
        let new_top = max(tops[h], team_max(top, index));
        var sum = 0.0;
        for (var i = lane; i < TILE; i += TEAM) {
          let weight = select(0.0, exp(weights[h * TILE + i] - new_top), first + i < end);
          if (mine) { weights[h * TILE + i] = weight; }
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
      for (var h = 0u; h < GROUP; h++) {
        var sum = gather[h] * shrinks[h];
        if (part < PARTS) {
          for (var i = 0u; i < VALUE_CELLS; i++) {
            if (part + i * PARTS < TILE) { sum += weights[h * TILE + part + i * PARTS] * v[i]; }
          }
        }
        gather[h] = sum;
      }
      if (more) {
        for (var i = 0u; i < VALUE_CELLS; i++) { v[i] = value_at(kv_row(here.x, kv_head, min(next + part + i * PARTS, next_last)) + four); }
      }
      workgroupBarrier();
    }

    if (own_row) {
      for (var first_head = 0u; first_head < GROUP; first_head += TEAMS) {
        let h = min(first_head + team, GROUP - 1u);
        var score = 0.0;
        for (var i = lane; i < FOURS; i += TEAM) { score += dot(query[h * FOURS + i], new_key[i]); }
        let whole = team_sum(score, index);
        if (first_head + team < GROUP && lane == 0u) {
          tops[h] = whole;
          sums[h] = 1.0;
        }
      }
      // The row's key and value stay for those that come after it.
      let to = kv_row(here.x, kv_head, position);
      store_key(to, index);
      workgroupBarrier();
      for (var i = index; i < DIM; i += WORKGROUP) { head[i] = new_value[i]; }
      workgroupBarrier();
      store_value(to, index);
      if (part == 0u) {
        let value = vec4f(head[4u * four], head[4u * four + 1u], head[4u * four + 2u], head[4u * four + 3u]);
        for (var h = 0u; h < GROUP; h++) { gather[h] = value; }
      }
    }
    for (var first_head = 0u; first_head < GROUP; first_head += HEADS_AT_ONCE) {
      for (var h = 0u; h < HEADS_AT_ONCE; h++) {
        if (first_head + h < GROUP) { gathered[h * WORKGROUP + index] = gather[first_head + h]; }
      }
      workgroupBarrier();
      for (var i = index; i < HEADS_AT_ONCE * FOURS; i += WORKGROUP) {
        let h = i / FOURS;
        if (first_head + h < GROUP) {
          var total = gathered[h * WORKGROUP + i % FOURS];
          for (var p = 1u; p < PARTS; p++) { total += gathered[h * WORKGROUP + p * FOURS + i % FOURS]; }
          let to = ((row * HEADS + kv_head * GROUP + first_head + h) * (SPLITS + 1u) + split) * (FOURS + 1u);
          shares[to + i % FOURS] = total;
          if (i % FOURS == 0u) { shares[to + FOURS] = vec4f(tops[first_head + h], sums[first_head + h], 0.0, 0.0); }
        }
      }
      workgroupBarrier();
    }
  }
}
