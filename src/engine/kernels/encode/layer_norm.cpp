#include "engine/kernels/encode/layer_norm.h"

#include "common/base/check.h"
#include "engine/kernels/encode/layer_norm.wgsl.h"

namespace weft::kernels {

gpu::PipelineOptions layer_norm_pipeline(const LayerNormSpec& spec, const Team& team,
                                         std::uint32_t workgroup) {
  check(spec.columns % 4 == 0, "rows are read four numbers at a time");
  ShaderText text;
  text.constant("QUARTERS", spec.columns / 4)
      .constant("EPSILON", spec.epsilon)
      .flag("TABLE", spec.table != LayerNormSpec::Table::none)
      .flag("BY_POSITION", spec.table == LayerNormSpec::Table::positions)
      .team(team, workgroup)
      .part(wgsl::layer_norm_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "layer_norm";
  options.groups = {{{0, gpu::BindingKind::storage},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::storage_read},
                     {4, gpu::BindingKind::storage_read},
                     {5, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups layer_norm_workgroups(const Team& team, std::uint32_t workgroup,
                                      std::uint32_t rows) {
  const std::uint32_t teams = workgroup / team.size;
  return grid((rows + teams - 1) / teams);
}

}  // namespace weft::kernels
