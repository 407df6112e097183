#include "engine/kernels/experts/choose_experts.h"

#include "common/base/check.h"
#include "engine/kernels/experts/choose_experts.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions choose_experts_pipeline(const ChooseExpertsSpec& spec) {
  check(
      spec.used > 0 && spec.used <= spec.experts && spec.experts <= ChooseExpertsSpec::experts_max,
      "a row uses some of its experts");
  ShaderText text;
  text.constant("EXPERTS", spec.experts)
      .constant("USED", spec.used)
      .part(wgsl::choose_experts_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "choose_experts";
  options.groups = {{{0, gpu::BindingKind::storage_read}, {1, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups choose_experts_workgroups(std::uint32_t rows) {
  return {.x = rows, .y = 1, .z = 1};
}

}  // namespace weft::kernels
