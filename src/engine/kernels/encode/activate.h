// x[row][i] becomes activation(x[row][i]), in place.
//
// Group 0: 0 x, 1 BatchSize (uniform). Rows lie one behind another.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/activation.h"

namespace weft::kernels {

struct ActivateSpec {
  std::uint32_t columns = 0;  // A multiple of 4.
  Activation activation = Activation::gelu;
};
[[nodiscard]] gpu::PipelineOptions activate_pipeline(const ActivateSpec& spec);
[[nodiscard]] gpu::Workgroups activate_workgroups(const ActivateSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
