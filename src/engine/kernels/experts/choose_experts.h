// The experts of each row: the `used` with the largest scores, the largest first (of equal ones the
// one with the smaller number), and the softmax of their scores as their weights.
//
// Group 0: 0 scores (read, [row][expert]), 1 chosen ([row][used] of ChosenExpert).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

struct ChosenExpert {
  std::uint32_t expert = 0;
  float weight = 0;
};

struct ChooseExpertsSpec {
  // So many scores fit into every device's workgroup memory.
  static constexpr std::uint32_t experts_max = 2048;

  std::uint32_t experts = 1;
  std::uint32_t used = 1;  // At most `experts`.
};
[[nodiscard]] gpu::PipelineOptions choose_experts_pipeline(const ChooseExpertsSpec& spec);
[[nodiscard]] gpu::Workgroups choose_experts_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
