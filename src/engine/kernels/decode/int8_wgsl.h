// How a kernel with int8 activations reads a format's weights: quant16(row, lane), 16 int8, and
// scale16(row, lane), their scale and what is added for each 1 of the activations (HAS_OFFSET).
#pragma once

#include <string_view>

#include "engine/kernels/weights.h"

namespace weft::kernels {

// Empty for formats without quants. Behind weights_wgsl().
[[nodiscard]] std::string_view int8_wgsl(WeightFormat format);

}  // namespace weft::kernels
