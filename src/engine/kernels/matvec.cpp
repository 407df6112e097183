#include "engine/kernels/matvec.h"

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/matvec.wgsl.h"

namespace weft::kernels {

gpu::GroupLayout weights_layout() {
  return {{0, gpu::BindingKind::storage_read}, {1, gpu::BindingKind::storage_read}};
}

gpu::PipelineOptions matvec_pipeline(const MatvecSpec& spec, const Team& team,
                                     std::uint32_t workgroup) {
  check(spec.columns % 4 == 0 && spec.x_pitch % 4 == 0, "vectors are read four numbers at a time");
  ShaderText text;
  text.constant("ROWS", spec.weight_rows)
      .constant("LANES", (spec.columns + 15) / 16)
      .constant("QUARTERS", spec.columns / 4)
      .constant("X_PITCH", spec.x_pitch / 4)
      .constant("Y_PITCH", spec.y_pitch)
      .constant("Y_OFFSET", spec.y_offset)
      .constant("BATCH", spec.batch)
      .flag("BIAS", spec.bias)
      .flag("ACCUMULATE", spec.accumulate)
      .team(team, workgroup)
      .part(weights_wgsl(spec.format))
      .part(wgsl::matvec_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = weft::format("matvec {} {}x{} batch {}", to_string(spec.format), spec.weight_rows,
                               spec.columns, spec.batch);
  options.groups = {weights_layout(),
                    {{0, gpu::BindingKind::storage_read},
                     {1, gpu::BindingKind::storage},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups matvec_workgroups(const MatvecSpec& spec, const Team& team, std::uint32_t workgroup,
                                  std::uint32_t rows) {
  const std::uint32_t teams = workgroup / team.size;
  return grid((spec.weight_rows + teams - 1) / teams, (rows + spec.batch - 1) / spec.batch);
}

}  // namespace weft::kernels
