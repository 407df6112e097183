#include "engine/kernels/decode/quantize_rows.h"

#include "common/base/check.h"
#include "engine/kernels/decode/norm_quantize.wgsl.h"
#include "engine/kernels/decode/norm_quantize_subgroup.wgsl.h"
#include "engine/kernels/decode/quantize.wgsl.h"
#include "engine/kernels/decode/quantize_rows.wgsl.h"
#include "engine/kernels/decode/quantize_subgroup.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

gpu::PipelineOptions quantize_rows_pipeline(const QuantizeRowsSpec& spec) {
  check(spec.columns % 32 == 0 && spec.pitch % 4 == 0, "rows are rounded in whole blocks");
  ShaderText text;
  text.constant("BLOCKS", spec.columns / 32)
      .constant("PITCH", spec.pitch / 4)
      .part(wgsl::quantize_wgsl)
      .part(wgsl::quantize_rows_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "quantize_rows";
  options.groups = {{{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage},
                     {2, gpu::BindingKind::storage}}};
  return options;
}

gpu::Workgroups quantize_rows_workgroups(const QuantizeRowsSpec& spec, std::uint32_t rows) {
  return {.x = (spec.columns / 32 + 63) / 64, .y = rows, .z = 1};
}

gpu::PipelineOptions norm_quantize_pipeline(const NormQuantizeSpec& spec, const Team& team,
                                            std::uint32_t workgroup) {
  check(spec.columns % 32 == 0, "rows are rounded in whole blocks");
  const bool shuffles = team.subgroups && team.size >= 8;
  ShaderText text;
  text.constant("LANES", spec.columns / 16)
      .constant("EPSILON", spec.epsilon)
      .team(team, workgroup)
      .part(wgsl::quantize_wgsl);
  if (shuffles) text.part(wgsl::quantize_subgroup_wgsl);
  text.part(shuffles ? wgsl::norm_quantize_subgroup_wgsl : wgsl::norm_quantize_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "norm_quantize";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read}, {1, storage_read}, {2, storage}, {3, storage}}};
  return options;
}

gpu::Workgroups norm_quantize_workgroups(std::uint32_t rows) { return {.x = rows, .y = 1, .z = 1}; }

}  // namespace weft::kernels
