// An expert's place is the number of those before it. With scores that are no numbers places stay empty: expert 0, weight 0.
@group(0) @binding(0) var<storage, read> scores: array<f32>;
@group(0) @binding(1) var<storage, read_write> chosen: array<vec2u>;  // expert, weight

var<workgroup> score: array<f32, EXPERTS>;
var<workgroup> best: array<vec2u, USED>;  // expert, score

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  for (var i = index; i < EXPERTS; i += 64u) { score[i] = scores[group.x * EXPERTS + i]; }
  for (var i = index; i < USED; i += 64u) { best[i] = vec2u(0u, bitcast<u32>(-3.0e38f)); }
  workgroupBarrier();
  for (var i = index; i < EXPERTS; i += 64u) {
    let own = score[i];
    var place = 0u;
    for (var j = 0u; j < EXPERTS; j++) { place += u32(score[j] > own || (score[j] == own && j < i)); }
    if (place < USED && own == own) { best[place] = vec2u(i, bitcast<u32>(own)); }
  }
  workgroupBarrier();
  let top = bitcast<f32>(best[0].y);
  var sum = 0.0;
  for (var i = 0u; i < USED; i++) { sum += exp(bitcast<f32>(best[i].y) - top); }
  for (var i = index; i < USED; i += 64u) {
    let one = best[i];
    chosen[group.x * USED + i] = vec2u(one.x, bitcast<u32>(exp(bitcast<f32>(one.y) - top) / sum));
  }
}
