// Descriptions of moves of elements, which the processor and GPU kernels both follow.
#pragma once

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

// Fills `out` by reading `in`: the element of `out` at the coordinates (i_0, i_1, ...) is element
// start + sum of i_d * strides[d] of `in`.
void gather_elements(const Tensor& in, const Shape& strides, std::int64_t start, Tensor& out);

struct SlicePlan {
  Shape shape;
  Shape strides;
  std::int64_t start = 0;
};
// Returns the slice that a Slice node takes.
[[nodiscard]] Result<SlicePlan> plan_slice(const Call& call);

}  // namespace weft::onnx
