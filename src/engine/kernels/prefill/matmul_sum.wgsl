struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(0) @binding(0) var<storage, read> partials: array<f32>;  // [split][row][output]
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<uniform> batch: BatchSize;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.y >= batch.rows || id.x * 4u >= OUTPUTS) { return; }
  var sum = vec4f();
  for (var split = 0u; split < SPLITS; split++) {
    let at = (split * batch.rows + id.y) * OUTPUTS + id.x * 4u;
    for (var i = 0u; i < min(4u, OUTPUTS - id.x * 4u); i++) { sum[i] += partials[at + i]; }
  }
  finish(id.y, id.x * 4u, 0u, sum);
}
