// What the workgroups of an attention gathered, as one row per head, quantized for the matrix behind it.
@group(0) @binding(0) var<storage, read> shares: array<vec4f>;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_quants: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> out_scales: array<vec2f>;

const FOURS = DIM / 4u;
const ROW = HEADS * FOURS;
var<workgroup> merged: array<vec4f, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let row = group.y;
  let at = group.x * 64u + index;
  if (at < ROW) {
    let head = at / FOURS;
    let four = at % FOURS;
    let start = (row * HEADS + head) * SPLITS * (FOURS + 1u);
    var top = -3.0e38;
    for (var s = 0u; s < SPLITS; s++) { top = max(top, shares[start + s * (FOURS + 1u) + FOURS].x); }
    var sum = 0.0;
    var total = vec4f();
    for (var s = 0u; s < SPLITS; s++) {
      let share = shares[start + s * (FOURS + 1u) + FOURS];
      let weight = exp(share.x - top);
      sum += weight * share.y;
      total += weight * shares[start + s * (FOURS + 1u) + four];
    }
    total /= sum;
    if (GATED) {
      let gate = row * PITCH + head * Q_STRIDE + DIM + 4u * four;
      total /= 1.0 + exp(-vec4f(qkv[gate], qkv[gate + 1u], qkv[gate + 2u], qkv[gate + 3u]));
    }
    merged[index] = total;
  }
  workgroupBarrier();
  let block = group.x * 8u + index;
  if (index < 8u && block < ROW / 8u) {
    var v: array<vec4f, 8>;
    for (var i = 0u; i < 8u; i++) { v[i] = merged[index * 8u + i]; }
    let made = quantize_block(v);
    let to = row * (ROW / 4u) + block * 2u;
    out_quants[to] = made.low;
    out_quants[to + 1u] = made.high;
    out_scales[to] = made.low_scale;
    out_scales[to + 1u] = made.high_scale;
  }
}
