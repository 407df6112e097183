#include "engine/kernels/prefill/norm_halves.h"

#include "common/base/check.h"
#include "engine/kernels/prefill/norm_halves.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions norm_halves_pipeline(const NormHalvesSpec& spec) {
  check(spec.columns % 4 == 0, "rows are read four numbers at a time");
  constexpr auto read = gpu::BindingKind::storage_read;
  ShaderText text;
  text.enable("f16")
      .constant("WORKGROUP", std::uint32_t{256})
      .constant("QUARTERS", spec.columns / 4)
      .constant("EPSILON", spec.epsilon)
      .part(wgsl::workgroup_sum_wgsl)
      .part(wgsl::norm_halves_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "norm_halves";
  options.groups = {{{0, read}, {1, read}, {2, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups norm_halves_workgroups(std::uint32_t rows) { return {.x = rows, .y = 1, .z = 1}; }

}  // namespace weft::kernels
