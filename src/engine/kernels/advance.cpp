#include "engine/kernels/advance.h"

#include "engine/kernels/advance.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions advance_pipeline() {
  gpu::PipelineOptions options;
  options.wgsl = wgsl::advance_wgsl;
  options.label = "advance";
  options.groups = {
      {{0, gpu::BindingKind::storage_read}, {1, gpu::BindingKind::storage}, {2, gpu::BindingKind::storage}, {3, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups advance_workgroups(std::uint32_t rows) { return {.x = (rows + 31) / 32, .y = 1, .z = 1}; }

}  // namespace weft::kernels
