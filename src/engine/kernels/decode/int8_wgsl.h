// The functions with which a kernel with int8 activations reads the weights of a format:
// quant16(row, lane), 16 int8; and scale16(row, lane), their scale and the offset that is
// multiplied with the sum of the activations (HAS_OFFSET).
#pragma once

#include <string_view>

#include "engine/kernels/weights.h"

namespace weft::kernels {

// The WGSL of the functions, which follows weights_wgsl(); empty for formats without quants.
[[nodiscard]] std::string_view int8_wgsl(WeightFormat format);

}  // namespace weft::kernels
