struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(1) @binding(0) var<storage, read> tokens: array<u32>;
@group(1) @binding(1) var<storage, read_write> out: array<vec4f>;
@group(1) @binding(2) var<uniform> batch: BatchSize;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let row = group.x;
  let token = tokens[row] - FIRST;  // Below FIRST it wraps around and is too large.
  if (token >= ROWS) { return; }
  for (var lane = index; lane < LANES; lane += 64u) {
    let w = load16(token, lane);
    for (var i = 0u; i < 4u; i++) {
      if (lane * 4u + i < QUARTERS) { out[row * QUARTERS + lane * 4u + i] = SCALE * w[i]; }
    }
  }
}
