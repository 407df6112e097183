#include "engine/kernels/embed.h"

#include "engine/kernels/embed.wgsl.h"
#include "engine/kernels/matvec.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions embed_pipeline(const EmbedSpec& spec) {
  ShaderText text;
  text.constant("ROWS", spec.weight_rows)
      .constant("FIRST", spec.first_token)
      .constant("LANES", (spec.columns + 15) / 16)
      .constant("QUARTERS", spec.columns / 4)
      .constant("SCALE", spec.scale)
      .part(weights_wgsl(spec.format))
      .part(wgsl::embed_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "embed";
  options.groups = {weights_layout(),
                    {{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage},
                     {2, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups embed_workgroups(std::uint32_t rows) { return {.x = rows, .y = 1, .z = 1}; }

}  // namespace weft::kernels
