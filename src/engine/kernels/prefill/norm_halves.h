// The norm of rms_norm.h with an f16 result, for products whose x is f16 (MatmulSpec::x_halves).
// Needs the feature shader-f16.
//
// Bindings of group 0: 0 x (read), 1 weight (read), 2 out (f16). Rows follow each other without a
// gap. With partial sums (matmul.h) that are not added to x yet: 0 x is also written, 3 the partial
// sums (read), 4 BatchSize (uniform).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

struct NormHalvesSpec {
  std::uint32_t columns = 0;  // Must be a multiple of 4.
  float epsilon = 0;
  std::uint32_t splits = 0;  // The number of partial sums of a product that are added; may be 0.
};
[[nodiscard]] gpu::PipelineOptions norm_halves_pipeline(const NormHalvesSpec& spec);
[[nodiscard]] gpu::Workgroups norm_halves_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
