#include "engine/kernels/attention.h"

#include <cmath>
#include <limits>

#include "engine/kernels/attention.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

void AttentionView::describe(ShaderText& text, std::uint32_t head_dim) const {
  text.constant("SCALE", scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(head_dim)))
      .constant("SEEN_BEFORE",
                window == 0 ? std::numeric_limits<std::uint32_t>::max() : window - 1);
}

gpu::PipelineOptions attention_pipeline(const AttentionSpec& spec) {
  // A thread computes four elements of the output, so that a head needs head_dim / 4 threads.
  const std::uint32_t workgroup = spec.cache.head_dim > 256 ? 256 : 64;
  ShaderText text;
  text.constant("WORKGROUP", workgroup)
      .constant("HEADS", spec.heads)
      .constant("Q_STRIDE", spec.q_stride)
      .constant("PITCH", spec.pitch)
      .flag("GATED", spec.gated)
      .part(wgsl::workgroup_sum_wgsl);
  spec.view.describe(text, spec.cache.head_dim);
  spec.cache.describe(text, false);
  text.part(wgsl::attention_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "attention";
  options.groups = {{{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::storage_read},
                     {4, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups attention_workgroups(const AttentionSpec& spec, std::uint32_t rows) {
  return {.x = spec.heads, .y = rows, .z = 1};
}

}  // namespace weft::kernels
