struct BatchSize {
  rows : u32, segments : u32, unused : vec2u
}

@group(0) @binding(0) var<storage, read> drawn : array<vec2u>;  // token, bits of the logprob
@group(0) @binding(1) var<storage, read_write> tokens : array<u32>;
@group(0) @binding(2) var<storage, read_write> places : array<vec4u>;  // slot, position
@group(0) @binding(3) var<uniform> batch : BatchSize;

@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id : vec3u) {
  if (id.x >= batch.rows) {
    return;
  }
  tokens[id.x] = drawn[id.x].x;
  places[id.x].y += 1u;
}
