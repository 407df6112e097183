@group(0) @binding(0) var<storage, read> tiles: array<Best>;
@group(0) @binding(1) var<storage, read_write> drawn: array<vec2u>;  // token, bits of the logprob

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  var mine = none();
  for (var tile = index; tile < TILES; tile += WORKGROUP) { mine = join(mine, tiles[group.x * TILES + tile]); }
  let best = workgroup_best(mine, index);
  if (index == 0u) { drawn[group.x] = vec2u(best.token, bitcast<u32>(-log(best.sum))); }
}
