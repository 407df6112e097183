// The recurrent step of delta_net.h for many rows, with the same formula, state and buffers. A
// chunk of rows is loaded into workgroup memory while the previous chunk is computed. A column of
// the state is divided among a few threads, which keep it in registers.
//
// The bindings of group 0 are those of step in delta_net.h: 0 conv, 1 x, 2 dt_bias, 3 a, 4 state, 5
// out, 6 Segment.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/delta_net.h"

namespace weft::kernels {

struct DeltaChunkTuning {
  std::uint32_t subgroup_size = 0;  // 0 if threads exchange values in workgroup memory.
  std::uint32_t lanes = 8;          // The threads of a column; at most a subgroup.
  std::uint32_t columns = 16;       // The number of columns that a workgroup computes.
  std::uint32_t rows = 16;          // The number of rows in a chunk.

  [[nodiscard]] std::uint32_t threads() const { return lanes * columns; }
  [[nodiscard]] std::uint32_t workgroup_bytes(const DeltaStepSpec& spec) const;
};

[[nodiscard]] DeltaChunkTuning delta_chunk_tuning(const gpu::Device& device,
                                                  const DeltaStepSpec& spec,
                                                  bool use_subgroups = true);
[[nodiscard]] gpu::PipelineOptions delta_chunk_pipeline(const DeltaStepSpec& spec,
                                                        const DeltaChunkTuning& tuning);
[[nodiscard]] gpu::Workgroups delta_chunk_workgroups(const DeltaStepSpec& spec,
                                                     const DeltaChunkTuning& tuning,
                                                     std::uint32_t segments);

}  // namespace weft::kernels
