// A team is TEAM neighbours, who meet in workgroup memory.
var<workgroup> team_memory: array<f32, WORKGROUP>;
fn team_sum(value: f32, index: u32) -> f32 {
  team_memory[index] = value;
  workgroupBarrier();
  for (var half = TEAM / 2u; half > 0u; half /= 2u) {
    if (index % TEAM < half) { team_memory[index] += team_memory[index + half]; }
    workgroupBarrier();
  }
  let sum = team_memory[index - index % TEAM];
  workgroupBarrier();
  return sum;
}
fn tree_sum(value: f32, index: u32) -> f32 { return team_sum(value, index); }
fn team_max(value: f32, index: u32) -> f32 {
  team_memory[index] = value;
  workgroupBarrier();
  for (var half = TEAM / 2u; half > 0u; half /= 2u) {
    if (index % TEAM < half) { team_memory[index] = max(team_memory[index], team_memory[index + half]); }
    workgroupBarrier();
  }
  let top = team_memory[index - index % TEAM];
  workgroupBarrier();
  return top;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) index: u32) {
  kernel(group, groups, index, index / TEAM, index % TEAM);
}
