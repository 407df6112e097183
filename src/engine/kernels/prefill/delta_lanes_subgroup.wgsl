// The LANES neighbours of a column are a part of a subgroup.
fn lanes_sum(value: vec2f, index: u32, turn: u32) -> vec2f {
  var sum = value;
  for (var distance = 1u; distance < LANES; distance *= 2u) { sum += subgroupShuffleXor(sum, distance); }
  return sum;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32) {
  kernel(group, subgroup * SUBGROUP + lane);
}
