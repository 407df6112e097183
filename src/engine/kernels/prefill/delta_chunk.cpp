#include "engine/kernels/prefill/delta_chunk.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "engine/kernels/prefill/delta_chunk.wgsl.h"
#include "engine/kernels/prefill/delta_lanes_subgroup.wgsl.h"
#include "engine/kernels/prefill/delta_lanes_workgroup.wgsl.h"

namespace weft::kernels {

std::uint32_t DeltaChunkTuning::workgroup_bytes(const DeltaStepSpec& spec) const {
  // The bytes of a row: query and key, values, factors, squares.
  const std::uint32_t row = 2 * spec.key_dim * 4 + columns * 4 + 16 + 16 * 8;
  return rows * row + (subgroup_size == 0 ? 2 * threads() * 8 : 0) + 16;
}

DeltaChunkTuning delta_chunk_tuning(const gpu::Device& device, const DeltaStepSpec& spec,
                                    bool use_subgroups) {
  const Team team = Team::of(device, use_subgroups);
  DeltaChunkTuning tuning;
  tuning.subgroup_size = team.subgroups ? team.size : 0;
  if (team.subgroups) tuning.lanes = std::min(8u, team.size);
  for (const std::uint32_t rows : {32u, 16u, 8u, 4u, 2u, 1u}) {
    tuning.rows = rows;
    if (tuning.workgroup_bytes(spec) <= device.limits().workgroup_storage_bytes_max) break;
  }
  return tuning;
}

gpu::PipelineOptions delta_chunk_pipeline(const DeltaStepSpec& spec,
                                          const DeltaChunkTuning& tuning) {
  check(spec.key_dim % 4 == 0, "keys are read four numbers at a time");
  check(tuning.subgroup_size == 0 ||
            (tuning.lanes <= tuning.subgroup_size && tuning.threads() % tuning.subgroup_size == 0),
        "a workgroup is made of whole subgroups, and those of whole columns");
  ShaderText text;
  text.constant("KEY_HEADS", spec.key_heads)
      .constant("VALUE_HEADS", spec.value_heads)
      .constant("KEY_DIM", spec.key_dim)
      .constant("VALUE_DIM", spec.value_dim)
      .constant("PITCH", spec.pitch)
      .constant("ALPHA", spec.alpha_offset)
      .constant("BETA", spec.beta_offset)
      .constant("EPSILON", spec.epsilon)
      .constant("SCALE", 1 / std::sqrt(static_cast<float>(spec.key_dim)))
      .constant("LANES", tuning.lanes)
      .constant("COLUMNS", tuning.columns)
      .constant("CHUNK", tuning.rows)
      .constant("THREADS", tuning.threads());
  if (tuning.subgroup_size != 0)
    text.enable("subgroups")
        .silence("subgroup_uniformity")
        .constant("SUBGROUP", tuning.subgroup_size)
        .part(wgsl::delta_lanes_subgroup_wgsl);
  else
    text.part(wgsl::delta_lanes_workgroup_wgsl);
  text.part(wgsl::delta_chunk_wgsl);
  constexpr auto read = gpu::BindingKind::storage_read;
  constexpr auto write = gpu::BindingKind::storage;
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "delta_chunk";
  options.groups = {
      {{0, read}, {1, read}, {2, read}, {3, read}, {4, write}, {5, write}, {6, read}}};
  return options;
}

gpu::Workgroups delta_chunk_workgroups(const DeltaStepSpec& spec, const DeltaChunkTuning& tuning,
                                       std::uint32_t segments) {
  return {.x = (spec.value_dim + tuning.columns - 1) / tuning.columns,
          .y = spec.value_heads,
          .z = segments};
}

}  // namespace weft::kernels
