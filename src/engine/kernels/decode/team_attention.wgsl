// Attention of one row over what its sequence remembers and over itself, as decode_attention.wgsl, by teams that need not meet: each
// takes a share of the positions, one after the other where there are fewer teams than shares (many rows). KEY_THREADS neighbours read
// a key together, so that a read is a row of memory, and sums are exchanged until each thread has the score of one position for all
// heads of the group; then it gathers four numbers of the values. Numbers of heads are in registers: statements are written out
// (team_attention.cpp).
@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> turns: array<vec2f>;
@group(0) @binding(3) var<storage, read> norms: array<f32>;  // of queries, then of keys
@group(0) @binding(4) var<storage, read_write> keys: array<KvCell>;
@group(0) @binding(5) var<storage, read_write> values: array<KvCell>;
@group(0) @binding(6) var<storage, read_write> shares: array<vec4f>;  // [row][head][split][FOURS + 1]; the last: max and sum

const GROUP = HEADS / KV_HEADS;  // Query heads that share a key head.
const FOURS = DIM / 4u;
const PARTS = max(1u, TEAM / FOURS);  // Positions whose values a team reads at a time.
const LOWEST = -3.0e38;

var<workgroup> query: array<vec4f, GROUP * FOURS>;
var<workgroup> new_key: array<vec4f, FOURS>;
var<workgroup> head: array<f32, DIM>;  // For the cache.
var<workgroup> new_value: array<f32, DIM>;
var<workgroup> head_factor: array<f32, GROUP + 1u>;

// Where a share of a head goes.
fn share_at(row: u32, kv_head: u32, h: u32, split: u32) -> u32 {
  return ((row * HEADS + kv_head * GROUP + h) * (SPLITS + 1u) + split) * (FOURS + 1u);
}

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
  if (group.y > 0u && group.y * TEAMS >= used) { return; }

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
  if (group.y == 0u) {
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
  workgroupBarrier();

  let four = lane % FOURS;
  let part = lane / FOURS;
  let own = lane % KEY_THREADS;  // The thread's part of a key.
@QUERY
  for (var split = group.y * TEAMS + team; split < used; split += groups.y * TEAMS) {
    let begin = position - before(position) + split * share;
    let end = min(begin + share, position);
@BEGIN
    for (var first = begin; first < end; first += TEAM) {
      let mine = kv_row(here.x, kv_head, min(first + lane, end - 1u));
      let valid = first + lane < end;
@KEYS
@WEIGHTS
@GATHER
    }
@JOIN
    if (part == 0u) {
@WRITE
    }
    if (lane == 0u) {
@STATS
    }
  }

  // The row itself, behind those that share what is remembered.
  if (group.y == 0u) {
    for (var first_head = 0u; first_head < GROUP; first_head += TEAMS) {
      let h = min(first_head + team, GROUP - 1u);
      var score = 0.0;
      for (var i = lane; i < FOURS; i += TEAM) { score += dot(query[h * FOURS + i], new_key[i]); }
      let whole = team_sum(score, index);
      if (first_head + team < GROUP) {
        let to = share_at(row, kv_head, h, used);
        for (var i = lane; i < FOURS; i += TEAM) {
          shares[to + i] = vec4f(new_value[4u * i], new_value[4u * i + 1u], new_value[4u * i + 2u], new_value[4u * i + 3u]);
        }
        if (lane == 0u) { shares[to + FOURS] = vec4f(whole, 1.0, 0.0, 0.0); }
      }
    }
    // The row's key and value stay for those that come after it.
    let to = kv_row(here.x, kv_head, position);
    store_key(to, index);
    workgroupBarrier();
    for (var i = index; i < DIM; i += WORKGROUP) { head[i] = new_value[i]; }
    workgroupBarrier();
    store_value(to, index);
  }
}
