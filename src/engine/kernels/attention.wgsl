@group(0) @binding(0) var<storage, read> queries : array<f32>;
@group(0) @binding(1) var<storage, read> places : array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> keys : array<KvCell>;
@group(0) @binding(3) var<storage, read> values : array<KvCell>;
@group(0) @binding(4) var<storage, read_write> out : array<vec4f>;

const FOURS = DIM / 4u;
const PARTS = WORKGROUP / FOURS;  // Threads that share four elements of the output, each a part of the positions.

var<workgroup> query : array<vec4f, FOURS>;
var<workgroup> weights : array<f32, WORKGROUP>;
var<workgroup> parts : array<vec4f, PARTS * FOURS>;
var<workgroup> seen : u32;

@compute @workgroup_size(WORKGROUP) fn main(@builtin(workgroup_id) group : vec3u, @builtin(local_invocation_index) index : u32) {
  let head = group.x;
  let row = group.y;
  let start = row * PITCH + head * Q_STRIDE;
  for (var i = index; i < FOURS; i += WORKGROUP) {
    query[i] = SCALE * vec4f(queries[start + 4u * i], queries[start + 4u * i + 1u], queries[start + 4u * i + 2u], queries[start + 4u * i + 3u]);
  }
  if (index == 0u) {
    seen = places[row].y + 1u;
  }
  let positions = workgroupUniformLoad(&seen);
  let slot = places[row].x;
  let kv_head = head / (HEADS / KV_HEADS);
  let part = index / FOURS;
  let four = index % FOURS;

  var top = -3.0e38;
  var sum = 0.0;
  var gathered = vec4f();
  let oldest = positions - 1u - min(positions - 1u, SEEN_BEFORE);
  for (var first = oldest; first < positions; first += WORKGROUP) {
    // A position for each thread.
    let position = first + index;
    var score = -3.0e38;
    if (position < positions) {
      score = 0.0;
      let key = kv_row(slot, kv_head, position);
      for (var i = 0u; i < FOURS; i++) {
        score += dot(query[i], key_at(key + i));
      }
    }
    let new_top = max(top, workgroup_max(score, index));
    let weight = select(0.0, exp(score - new_top), position < positions);
    weights[index] = weight;
    let shrink = exp(top - new_top);
    sum = sum * shrink + workgroup_sum(weight, index);
    gathered *= shrink;
    top = new_top;
    // Four elements of the output for each thread.
    if (part < PARTS) {
      let end = min(WORKGROUP, positions - first);
      for (var p = part; p < end; p += PARTS) {
        gathered += weights[p] * value_at(kv_row(slot, kv_head, first + p) + four);
      }
    }
    workgroupBarrier();
  }
  if (part < PARTS) {
    parts[index] = gathered;
  }
  workgroupBarrier();
  if (index < FOURS) {
    var total = parts[index];
    for (var p = 1u; p < PARTS; p++) {
      total += parts[p * FOURS + index];
    }
    total /= sum;
    if (GATED) {
      let gate = start + DIM + 4u * index;
      total /= 1.0 + exp(-vec4f(queries[gate], queries[gate + 1u], queries[gate + 2u], queries[gate + 3u]));
    }
    out[(row * HEADS + head) * FOURS + index] = total;
  }
}
