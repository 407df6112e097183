struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(0) @binding(0) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(1) var<uniform> batch: BatchSize;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) index: u32) {
  let i = (group.x + group.y * groups.x) * 64u + index;
  if (i >= batch.rows * QUARTERS) { return; }
  x[i] = gate4(x[i]);
}
