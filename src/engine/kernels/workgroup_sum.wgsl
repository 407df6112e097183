// Sum and maximum over a workgroup of WORKGROUP threads; every thread calls and gets it.
var<workgroup> workgroup_memory: array<f32, WORKGROUP>;
fn workgroup_sum(value: f32, index: u32) -> f32 {
  workgroup_memory[index] = value;
  workgroupBarrier();
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    if (index < half) { workgroup_memory[index] += workgroup_memory[index + half]; }
    workgroupBarrier();
  }
  let sum = workgroup_memory[0];
  workgroupBarrier();
  return sum;
}
fn workgroup_max(value: f32, index: u32) -> f32 {
  workgroup_memory[index] = value;
  workgroupBarrier();
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    if (index < half) { workgroup_memory[index] = max(workgroup_memory[index], workgroup_memory[index + half]); }
    workgroupBarrier();
  }
  let top = workgroup_memory[0];
  workgroupBarrier();
  return top;
}
