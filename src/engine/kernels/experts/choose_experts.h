// Chooses the experts of each row: the `used` experts with the largest scores, in descending order
// (if scores are equal, the expert with the smaller number comes first), with the softmax of these
// scores as weights.
//
// Bindings of group 0: 0 scores (read, [row][expert]), 1 chosen ([row][used] of ChosenExpert).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

struct ChosenExpert {
  std::uint32_t expert = 0;
  float weight = 0;
};

struct ChooseExpertsSpec {
  // The scores of this many experts fit into the workgroup memory of every device.
  static constexpr std::uint32_t experts_max = 2048;

  std::uint32_t experts = 1;
  std::uint32_t used = 1;  // The number of chosen experts, at most `experts`.
};
[[nodiscard]] gpu::PipelineOptions choose_experts_pipeline(const ChooseExpertsSpec& spec);
[[nodiscard]] gpu::Workgroups choose_experts_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
