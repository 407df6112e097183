@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> history: array<f32>;
@group(0) @binding(2) var<storage, read> segments: array<vec4u>;  // slot, first row, rows

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let channel = id.x;
  if (channel >= CHANNELS) { return; }
  let segment = segments[id.y];
  let at = (segment.x * CHANNELS + channel) * (TAPS - 1u);
  // Oldest first: what was there moves up by the rows that come behind it, so nothing is read after it was written.
  for (var i = 0u; i < TAPS - 1u; i++) {
    let back = TAPS - 2u - i;  // Rows before the last one.
    if (back < segment.z) {
      history[at + i] = x[(segment.y + segment.z - 1u - back) * PITCH + channel];
    } else {
      history[at + i] = history[at + i + segment.z];
    }
  }
}
