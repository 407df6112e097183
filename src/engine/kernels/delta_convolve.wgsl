@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> history: array<f32>;
@group(0) @binding(3) var<storage, read> places: array<vec4u>;  // slot, position, run
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let channel = id.x;
  let row = id.y;
  if (channel >= CHANNELS) { return; }
  let place = places[row];
  var sum = 0.0;
  for (var back = 0u; back < TAPS; back++) {
    var past = 0.0;
    if (back <= place.z) {
      past = x[(row - back) * PITCH + channel];
    } else {
      past = history[(place.x * CHANNELS + channel) * (TAPS - 1u) + TAPS - 1u - (back - place.z)];
    }
    sum += weight[channel * TAPS + TAPS - 1u - back] * past;
  }
  out[row * CHANNELS + channel] = sum / (1.0 + exp(-sum));
}
