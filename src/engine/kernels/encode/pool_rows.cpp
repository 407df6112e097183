#include "engine/kernels/encode/pool_rows.h"

#include "common/base/check.h"
#include "engine/kernels/encode/pool_rows.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions pool_rows_pipeline(const PoolRowsSpec& spec) {
  check(spec.columns % 4 == 0, "rows are read four numbers at a time");
  ShaderText text;
  text.constant("WORKGROUP", 64u)
      .constant("QUARTERS", spec.columns / 4)
      .flag("MEAN", spec.way == PoolRowsSpec::Way::mean)
      .flag("LAST", spec.way == PoolRowsSpec::Way::last)
      .part(wgsl::workgroup_sum_wgsl)
      .part(wgsl::pool_rows_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "pool_rows";
  options.groups = {{{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups pool_rows_workgroups(std::uint32_t segments) {
  return {.x = segments, .y = 1, .z = 1};
}

}  // namespace weft::kernels
