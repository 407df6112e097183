#include "engine/kernels/rms_norm.h"

#include "engine/kernels/rms_norm.wgsl.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions rms_norm_pipeline(const RmsNormSpec& spec) {
  ShaderText text;
  text.constant("WORKGROUP", 256u)
      .constant("QUARTERS", spec.columns / 4)
      .constant("EPSILON", spec.epsilon)
      .flag("SELECT", spec.select)
      .flag("ACCUMULATE", spec.accumulate)
      .part(wgsl::workgroup_sum_wgsl)
      .part(wgsl::rms_norm_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "rms_norm";
  options.groups = {{{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage},
                     {3, gpu::BindingKind::storage_read}}};
  return options;
}

gpu::Workgroups rms_norm_workgroups(std::uint32_t rows) { return {.x = rows, .y = 1, .z = 1}; }

}  // namespace weft::kernels
