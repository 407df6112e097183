// What the workgroups of an attention gathered, as one row per head, for the matrix behind it: write_merged() is in another file.
@group(0) @binding(0) var<storage, read> shares: array<vec4f>;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(4) var<storage, read> places: array<vec4u>;  // slot, position

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let row = group.y;
  if (places[row].y + 1u < SPLIT_FROM) { return; }
  let at = group.x * 64u + index;
  if (at < ROW) {
    let head = at / FOURS;
    let four = at % FOURS;
    let start = (row * HEADS + head) * (SPLITS + 1u) * (FOURS + 1u);
    let used = shares_of(places[row].y) + 1u;
    var top = -3.0e38;
    var sum = 0.0;
    var total = vec4f();
    // Several at a time, so that they are not waited for one by one.
    for (var s = 0u; s < used; s += 8u) {
      var stats = array<vec2f, 8>();
      var parts = array<vec4f, 8>();
      for (var i = 0u; i < 8u; i++) {
        let at_share = start + min(s + i, used - 1u) * (FOURS + 1u);
        stats[i] = shares[at_share + FOURS].xy;
        parts[i] = shares[at_share + four];
      }
      var new_top = top;
      for (var i = 0u; i < 8u; i++) { new_top = max(new_top, stats[i].x); }
      let shrink = exp(top - new_top);
      sum *= shrink;
      total *= shrink;
      for (var i = 0u; i < 8u; i++) {
        let weight = select(0.0, exp(stats[i].x - new_top), s + i < used);
        sum += weight * stats[i].y;
        total += weight * parts[i];
      }
      top = new_top;
    }
    total /= sum;
    if (GATED) {
      let gate = row * PITCH + head * Q_STRIDE + DIM + 4u * four;
      total /= 1.0 + exp(-vec4f(qkv[gate], qkv[gate + 1u], qkv[gate + 2u], qkv[gate + 3u]));
    }
    merged[index] = total;
  }
  workgroupBarrier();
  write_merged(row, group.x, index);
}
