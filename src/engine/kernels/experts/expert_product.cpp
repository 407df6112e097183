#include "engine/kernels/experts/expert_product.h"

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/experts/expert_product.wgsl.h"
#include "engine/kernels/matvec.h"

namespace weft::kernels {

gpu::PipelineOptions expert_product_pipeline(const ExpertProductSpec& spec, const Team& team,
                                             std::uint32_t workgroup) {
  check(spec.columns % 4 == 0, "vectors are read four numbers at a time");
  check(spec.output == ExpertProductSpec::Output::each || spec.tensors == 1,
        "sums are of one tensor");
  ShaderText text;
  text.constant("EXPERTS", spec.experts)
      .constant("USED", spec.used)
      .constant("OUTPUTS", spec.outputs)
      .constant("ALL_OUTPUTS", spec.outputs * spec.tensors)
      .constant("PART_FIRST", spec.part_first)
      .constant("PART_ROWS", spec.part_rows)
      .constant("LANES", (spec.columns + 15) / 16)
      .constant("QUARTERS", spec.columns / 4)
      .constant("Y_PITCH", spec.y_pitch)
      .constant("Y_OFFSET", spec.y_offset)
      .flag("SUMMED", spec.output == ExpertProductSpec::Output::summed)
      .team(team, workgroup)
      .part(weights_wgsl(spec.format))
      .part(wgsl::expert_product_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label =
      weft::format("expert_product {} {}x{}", to_string(spec.format), spec.outputs, spec.columns);
  options.groups = {weights_layout(),
                    {{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage},
                     {2, gpu::BindingKind::storage_read}}};
  return options;
}

gpu::Workgroups expert_product_workgroups(const ExpertProductSpec& spec, const Team& team,
                                          std::uint32_t workgroup, std::uint32_t rows) {
  const std::uint32_t teams = workgroup / team.size;
  const bool summed = spec.output == ExpertProductSpec::Output::summed;
  return grid((spec.outputs * spec.tensors + teams - 1) / teams, summed ? rows : rows * spec.used);
}

}  // namespace weft::kernels
