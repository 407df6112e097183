// out[row][i] = activation(x[row][i]) * x[row][width + i].
//
// Bindings of group 0: 0 x (read, rows of 2 * width), 1 out (rows of width), 2 BatchSize.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/activation.h"

namespace weft::kernels {

struct SwigluSpec {
  std::uint32_t width = 0;  // Must be a multiple of 4.
  Activation activation = Activation::silu;
};
[[nodiscard]] gpu::PipelineOptions swiglu_pipeline(const SwigluSpec& spec);
[[nodiscard]] gpu::Workgroups swiglu_workgroups(const SwigluSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
