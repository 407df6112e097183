#include "engine/kernels/encode/activate.h"

#include "common/base/check.h"
#include "engine/kernels/encode/activate.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions activate_pipeline(const ActivateSpec& spec) {
  check(spec.columns % 4 == 0, "rows are read four numbers at a time");
  ShaderText text;
  text.constant("QUARTERS", spec.columns / 4)
      .part(gate_wgsl(spec.activation))
      .part(wgsl::activate_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "activate";
  options.groups = {{{0, gpu::BindingKind::storage}, {1, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups activate_workgroups(const ActivateSpec& spec, std::uint32_t rows) {
  return grid((std::uint64_t{rows} * (spec.columns / 4) + 63) / 64);
}

}  // namespace weft::kernels
