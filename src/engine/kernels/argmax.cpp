#include "engine/kernels/argmax.h"

#include "engine/kernels/argmax_pick.wgsl.h"
#include "engine/kernels/argmax_tiles.wgsl.h"
#include "engine/kernels/best.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions argmax_tiles_pipeline(std::uint32_t vocabulary) {
  ShaderText text;
  text.constant("WORKGROUP", 256u)
      .constant("VOCABULARY", vocabulary)
      .constant("TILE", argmax_tile)
      .constant("TILES", argmax_tiles(vocabulary))
      .part(wgsl::best_wgsl)
      .part(wgsl::argmax_tiles_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "argmax_tiles";
  options.groups = {{{0, gpu::BindingKind::storage_read}, {1, gpu::BindingKind::storage}}};
  return options;
}

gpu::PipelineOptions argmax_pick_pipeline(std::uint32_t vocabulary) {
  ShaderText text;
  text.constant("WORKGROUP", 64u).constant("TILES", argmax_tiles(vocabulary)).part(wgsl::best_wgsl).part(wgsl::argmax_pick_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "argmax_pick";
  options.groups = {{{0, gpu::BindingKind::storage_read}, {1, gpu::BindingKind::storage}}};
  return options;
}

}  // namespace weft::kernels
