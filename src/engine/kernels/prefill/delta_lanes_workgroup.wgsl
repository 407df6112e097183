// The LANES neighbours of a column meet in workgroup memory, at two places in turn, so that one barrier does. All threads call.
var<workgroup> lanes_memory: array<vec2f, 2u * THREADS>;
fn lanes_sum(value: vec2f, index: u32, turn: u32) -> vec2f {
  lanes_memory[turn % 2u * THREADS + index] = value;
  workgroupBarrier();
  let begin = turn % 2u * THREADS + index - index % LANES;
  var sum = vec2f();
  for (var i = 0u; i < LANES; i++) { sum += lanes_memory[begin + i]; }
  return sum;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  kernel(group, index);
}
