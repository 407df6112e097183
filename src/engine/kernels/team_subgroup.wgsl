// A team is a subgroup.
fn team_sum(value: f32, index: u32) -> f32 { return subgroupAdd(value); }
// In an order that other kernels can repeat.
fn tree_sum(value: f32, index: u32) -> f32 {
  var sum = value;
  for (var half = TEAM / 2u; half > 0u; half /= 2u) { sum += subgroupShuffleXor(sum, half); }
  return sum;
}
fn team_max(value: f32, index: u32) -> f32 { return subgroupMax(value); }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) index: u32,
        @builtin(subgroup_id) team: u32, @builtin(subgroup_invocation_id) lane: u32) {
  kernel(group, groups, index, team, lane);
}
