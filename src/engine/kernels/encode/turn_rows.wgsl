struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<vec4u>;  // slot, position
@group(0) @binding(2) var<storage, read> turns: array<vec2f>;
@group(0) @binding(3) var<uniform> batch: BatchSize;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) index: u32) {
  let i = (group.x + group.y * groups.x) * 64u + index;
  let row = i / (HEADS * PAIRS);
  if (row >= batch.rows) { return; }
  let head = i / PAIRS % HEADS;
  let pair = i % PAIRS;
  let turn = turns[places[row].y * PAIRS + pair];
  let at = row * PITCH + head * DIM + pair;
  let a = x[at];
  let b = x[at + PAIRS];
  x[at] = a * turn.x - b * turn.y;
  x[at + PAIRS] = a * turn.y + b * turn.x;
}
