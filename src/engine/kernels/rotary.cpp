#include "engine/kernels/rotary.h"

#include "engine/kernels/rotary.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions rotary_pipeline(const RotarySpec& spec) {
  ShaderText text;
  text.constant("WORKGROUP", 64u)
      .constant("HEADS", spec.heads)
      .constant("Q_STRIDE", spec.q_stride)
      .constant("PITCH", spec.pitch)
      .constant("K_OFFSET", spec.k_offset)
      .constant("V_OFFSET", spec.v_offset)
      .constant("PAIRS", spec.pairs)
      .flag("HALVES", spec.halves)
      .flag("NORM", spec.norm)
      .constant("EPSILON", spec.epsilon)
      .part(wgsl::workgroup_sum_wgsl);
  spec.cache.describe(text, true);
  text.part(wgsl::rotary_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "rotary";
  options.groups = {{{0, gpu::BindingKind::storage},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::storage_read},
                     {4, gpu::BindingKind::storage_read},
                     {5, gpu::BindingKind::storage},
                     {6, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups rotary_workgroups(const RotarySpec& spec, std::uint32_t rows) {
  return {.x = spec.heads + 2 * spec.cache.kv_heads, .y = rows, .z = 1};
}

}  // namespace weft::kernels
