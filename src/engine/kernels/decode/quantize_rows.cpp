#include "engine/kernels/decode/quantize_rows.h"

#include "common/base/check.h"
#include "engine/kernels/decode/quantize.wgsl.h"
#include "engine/kernels/decode/quantize_rows.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions quantize_rows_pipeline(const QuantizeRowsSpec& spec) {
  check(spec.columns % 32 == 0 && spec.pitch % 4 == 0, "rows are rounded in whole blocks");
  ShaderText text;
  text.constant("BLOCKS", spec.columns / 32).constant("PITCH", spec.pitch / 4).part(wgsl::quantize_wgsl).part(wgsl::quantize_rows_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "quantize_rows";
  options.groups = {{{0, gpu::BindingKind::storage_read}, {1, gpu::BindingKind::storage}, {2, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups quantize_rows_workgroups(const QuantizeRowsSpec& spec, std::uint32_t rows) {
  return {.x = (spec.columns / 32 + 63) / 64, .y = rows, .z = 1};
}

}  // namespace weft::kernels
