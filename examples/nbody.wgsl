// One step of n bodies under gravity, every pair counted: a leapfrog kick and drift. Positions of a tile of bodies go through
// workgroup memory, so that each is read once a workgroup. Floats: GPUs agree within the manifest's tolerance, not in bits.

struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;

struct Step {
  seconds: f32,
  softening: f32,  // keeps close encounters finite
}
@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;   // x, y, z, mass
@group(0) @binding(2) var<storage, read> velocities: array<vec4f>;  // x, y, z, 0
@group(0) @binding(3) var<storage, read_write> new_positions: array<vec4f>;   // this task's bodies
@group(0) @binding(4) var<storage, read_write> new_velocities: array<vec4f>;

const tile = 64u;
var<workgroup> shared_bodies: array<vec4f, tile>;

@compute @workgroup_size(tile)
fn main(@builtin(global_invocation_id) local: vec3u, @builtin(local_invocation_index) lane: u32) {
  let body = local.x + weft.origin.x;
  let self_body = positions[body];
  var acceleration = vec3f();
  for (var first = 0u; first < arrayLength(&positions); first += tile) {
    shared_bodies[lane] = positions[first + lane];
    workgroupBarrier();
    for (var i = 0u; i < tile; i++) {
      let other = shared_bodies[i];
      let towards = other.xyz - self_body.xyz;
      let distance_squared = dot(towards, towards) + step.softening * step.softening;
      let inverse = inverseSqrt(distance_squared);
      acceleration += towards * (other.w * inverse * inverse * inverse);
    }
    workgroupBarrier();
  }
  let velocity = velocities[body].xyz + acceleration * step.seconds;
  new_positions[local.x] = vec4f(self_body.xyz + velocity * step.seconds, self_body.w);
  new_velocities[local.x] = vec4f(velocity, 0.0);
}
