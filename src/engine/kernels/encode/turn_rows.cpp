#include "engine/kernels/encode/turn_rows.h"

#include "engine/kernels/encode/turn_rows.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions turn_rows_pipeline(const TurnRowsSpec& spec) {
  ShaderText text;
  text.constant("HEADS", spec.heads)
      .constant("DIM", spec.head_dim)
      .constant("PAIRS", spec.pairs)
      .constant("PITCH", spec.pitch)
      .part(wgsl::turn_rows_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "turn_rows";
  options.groups = {{{0, gpu::BindingKind::storage},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups turn_rows_workgroups(const TurnRowsSpec& spec, std::uint32_t rows) {
  return grid((std::uint64_t{rows} * spec.heads * spec.pairs + 63) / 64);
}

}  // namespace weft::kernels
