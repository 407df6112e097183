#include "engine/kernels/attention.h"

#include <cmath>

#include "engine/kernels/attention.wgsl.h"
#include "engine/kernels/flash_attention.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions attention_pipeline(const AttentionSpec& spec) {
  // A thread gathers four elements of the output, so a head needs head_dim / 4 of them.
  const std::uint32_t workgroup = spec.cache.head_dim > 256 ? 256 : 64;
  ShaderText text;
  text.constant("WORKGROUP", workgroup)
      .constant("HEADS", spec.heads)
      .constant("Q_STRIDE", spec.q_stride)
      .constant("PITCH", spec.pitch)
      .constant("SCALE", 1 / std::sqrt(static_cast<float>(spec.cache.head_dim)))
      .flag("GATED", spec.gated)
      .part(wgsl::workgroup_sum_wgsl);
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

bool flash_attention_possible(const gpu::Device& device, const AttentionSpec& spec) {
  const std::uint32_t dim = spec.cache.head_dim;
  constexpr std::uint32_t rows = 32, workgroup = 128;
  const std::uint64_t bytes = 2 * std::uint64_t{rows} * dim * 4 + rows * rows * 4 + rows * 7 * 4;
  return dim % 32 == 0 && workgroup % (dim / 4) == 0 && bytes <= device.limits().workgroup_storage_bytes_max &&
         device.limits().workgroup_invocations_max >= workgroup;
}

gpu::PipelineOptions flash_attention_pipeline(const AttentionSpec& spec) {
  ShaderText text;
  text.constant("HEADS", spec.heads)
      .constant("Q_STRIDE", spec.q_stride)
      .constant("PITCH", spec.pitch)
      .constant("SCALE", 1 / std::sqrt(static_cast<float>(spec.cache.head_dim)))
      .flag("GATED", spec.gated);
  spec.cache.describe(text, false);
  text.part(wgsl::flash_attention_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "flash_attention";
  options.groups = {{{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::storage_read},
                     {4, gpu::BindingKind::storage},
                     {5, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups flash_attention_workgroups(const AttentionSpec& spec, std::uint32_t rows) { return {.x = spec.heads, .y = (rows + 31) / 32, .z = 1}; }

gpu::Workgroups attention_workgroups(const AttentionSpec& spec, std::uint32_t rows) { return {.x = spec.heads, .y = rows, .z = 1}; }

}  // namespace weft::kernels
