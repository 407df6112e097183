// Where the scale and the zero point of an element stand. Used on the processor and on a GPU.
#pragma once

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {

// Where the scale of an element stands in the tensor of scales.
struct Scales {
  AxisView view{{}, 0};
  std::int64_t block = 0;  // Elements along the axis that share a scale.
  std::int64_t along = 1;  // Scales along the axis.
  [[nodiscard]] std::int64_t place(std::int64_t i) const {
    if (along == 1 && block == 0) return 0;
    const std::int64_t k = i / view.after % view.length;
    if (block == 0) return k;
    return (i / view.after / view.length * along + k / block) * view.after + i % view.after;
  }
};
// The scales of a QuantizeLinear or DequantizeLinear node. Fails where scales and zero points do
// not fit.
[[nodiscard]] Result<Scales> plan_scales(const Call& call);

}  // namespace weft::onnx
