// Replaces x[row][i] by activation(x[row][i]).
//
// Bindings of group 0: 0 x, 1 BatchSize (uniform). Rows follow each other without a gap.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/activation.h"

namespace weft::kernels {

struct ActivateSpec {
  std::uint32_t columns = 0;  // Must be a multiple of 4.
  Activation activation = Activation::gelu;
};
[[nodiscard]] gpu::PipelineOptions activate_pipeline(const ActivateSpec& spec);
[[nodiscard]] gpu::Workgroups activate_workgroups(const ActivateSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
