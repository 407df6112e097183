// How moves of elements are described: what the processor and a GPU kernel both follow.
#pragma once

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

// Element i of `out`, whose place is (i_0, i_1, ...), is element start + sum i_d * strides[d] of
// `in`.
void gather_elements(const Tensor& in, const Shape& strides, std::int64_t start, Tensor& out);

struct SlicePlan {
  Shape shape;
  Shape strides;
  std::int64_t start = 0;
};
// The slice that a Slice node takes.
[[nodiscard]] Result<SlicePlan> plan_slice(const Call& call);

}  // namespace weft::onnx
