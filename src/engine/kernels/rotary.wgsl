@group(0) @binding(0) var<storage, read_write> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> turns: array<vec2f>;
@group(0) @binding(3) var<storage, read> q_norm: array<f32>;
@group(0) @binding(4) var<storage, read> k_norm: array<f32>;
@group(0) @binding(5) var<storage, read_write> keys: array<KvCell>;
@group(0) @binding(6) var<storage, read_write> values: array<KvCell>;

var<workgroup> head: array<f32, DIM>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let is_query = group.x < HEADS;
  let is_value = group.x >= HEADS + KV_HEADS;
  var start = group.y * PITCH;
  var kv_head = 0u;
  if (is_query) {
    start += group.x * Q_STRIDE;
  } else {
    kv_head = (group.x - HEADS) % KV_HEADS;
    start += select(K_OFFSET, V_OFFSET, is_value) + kv_head * DIM;
  }
  for (var i = index; i < DIM; i += WORKGROUP) { head[i] = qkv[start + i]; }
  workgroupBarrier();

  let slot = places[group.y].x;
  let position = places[group.y].y;
  if (!is_value) {
    if (NORM) {
      var squares = 0.0;
      for (var i = index; i < DIM; i += WORKGROUP) { squares += head[i] * head[i]; }
      let scale = inverseSqrt(workgroup_sum(squares, index) / f32(DIM) + EPSILON);
      for (var i = index; i < DIM; i += WORKGROUP) { head[i] *= scale * select(k_norm[i], q_norm[i], is_query); }
      workgroupBarrier();
    }
    for (var p = index; p < PAIRS; p += WORKGROUP) {
      let turn = turns[position * PAIRS + p];
      let at = select(2u * p, p, HALVES);
      let to = select(2u * p + 1u, p + PAIRS, HALVES);
      let a = head[at];
      let b = head[to];
      head[at] = a * turn.x - b * turn.y;
      head[to] = a * turn.y + b * turn.x;
    }
    workgroupBarrier();
  }
  let first = kv_row(slot, kv_head, position);
  if (is_query) {
    for (var i = index; i < DIM; i += WORKGROUP) { qkv[start + i] = head[i]; }
  } else if (is_value) {
    store_value(first, index);
  } else {
    store_key(first, index);
  }
}
