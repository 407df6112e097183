// out[row] = x[row] / sqrt(mean(x[row]^2) + epsilon) * weight, or out[row] += that with
// `accumulate`.
//
// Bindings of group 0: 0 x (read), 1 weight (read), 2 out, 3 selected (read, u32; any buffer
// without selection). Rows follow each other without a gap.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

struct RmsNormSpec {
  std::uint32_t columns = 0;  // Must be a multiple of 4.
  float epsilon = 0;
  bool select = false;  // True if row i of `out` is computed from row selected[i] of x.
  bool accumulate = false;
};
[[nodiscard]] gpu::PipelineOptions rms_norm_pipeline(const RmsNormSpec& spec);
[[nodiscard]] gpu::Workgroups rms_norm_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
