@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> tiles: array<Best>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  var mine = none();
  let end = min(VOCABULARY, (group.x + 1u) * TILE);
  for (var token = group.x * TILE + index; token < end; token += WORKGROUP) {
    let logit = logits[group.y * VOCABULARY + token];
    if (logit > mine.best) {
      mine = Best(logit, token, mine.sum * exp(mine.best - logit) + 1.0, 0u);
    } else {
      mine.sum += exp(logit - mine.best);
    }
  }
  let best = workgroup_best(mine, index);
  if (index == 0u) { tiles[group.y * TILES + group.x] = best; }
}
