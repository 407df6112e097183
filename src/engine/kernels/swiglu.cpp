#include "engine/kernels/swiglu.h"

#include "engine/kernels/shader.h"
#include "engine/kernels/swiglu.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions swiglu_pipeline(const SwigluSpec& spec) {
  ShaderText text;
  text.constant("QUARTERS", spec.width / 4)
      .part(gate_wgsl(spec.activation))
      .part(wgsl::swiglu_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "swiglu";
  options.groups = {{{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage},
                     {2, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups swiglu_workgroups(const SwigluSpec& spec, std::uint32_t rows) {
  return {.x = (spec.width / 4 + 63) / 64, .y = rows, .z = 1};
}

}  // namespace weft::kernels
