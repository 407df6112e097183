// Finds the scale and the zero point of an element. Used by the processor and by GPU kernels.
#pragma once

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {

// The position of an element's scale in the tensor of scales.
struct Scales {
  AxisView view{{}, 0};
  std::int64_t block = 0;  // Elements along the axis that share one scale.
  std::int64_t along = 1;  // The number of scales along the axis.
  [[nodiscard]] std::int64_t place(std::int64_t i) const {
    if (along == 1 && block == 0) return 0;
    const std::int64_t k = i / view.after % view.length;
    if (block == 0) return k;
    return (i / view.after / view.length * along + k / block) * view.after + i % view.after;
  }
};
// Returns the positions of the scales of a QuantizeLinear or DequantizeLinear node. Fails if the
// scales and zero points do not fit the input.
[[nodiscard]] Result<Scales> plan_scales(const Call& call);

}  // namespace weft::onnx
