#include "engine/kernels/prefill/norm_halves.h"

#include "common/base/check.h"
#include "engine/kernels/prefill/norm_halves.wgsl.h"
#include "engine/kernels/prefill/norm_x.wgsl.h"
#include "engine/kernels/prefill/norm_x_sums.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions norm_halves_pipeline(const NormHalvesSpec& spec) {
  check(spec.columns % 4 == 0, "rows are read four numbers at a time");
  ShaderText text;
  text.enable("f16")
      .constant("WORKGROUP", std::uint32_t{256})
      .constant("QUARTERS", spec.columns / 4)
      .constant("EPSILON", spec.epsilon)
      .part(wgsl::workgroup_sum_wgsl)
      .constant("SPLITS", spec.splits)
      .part(spec.splits > 0 ? wgsl::norm_x_sums_wgsl : wgsl::norm_x_wgsl)
      .part(wgsl::norm_halves_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "norm_halves";
  using enum gpu::BindingKind;
  options.groups = {
      {{0, spec.splits > 0 ? storage : storage_read}, {1, storage_read}, {2, storage}}};
  if (spec.splits > 0) {
    options.groups[0].push_back({3, storage_read});
    options.groups[0].push_back({4, uniform});
  }
  return options;
}

gpu::Workgroups norm_halves_workgroups(std::uint32_t rows) { return {.x = rows, .y = 1, .z = 1}; }

}  // namespace weft::kernels
