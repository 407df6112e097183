// Plans resampling along each dimension separately: the input elements that make an output element,
// and their weights. Used by the processor and by GPU kernels.
#pragma once

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

struct Tap {
  std::int64_t place = 0;
  float weight = 0;
};
// The taps of each output element along one dimension. An output element without taps has the
// extrapolation value.
using Taps = std::vector<std::vector<Tap>>;

struct ResizePlan {
  Shape output;
  std::vector<Taps> dimensions;  // One entry for each dimension of the input.
  float extrapolation = 0;
};
// Returns the plan of a Resize or Upsample node. The formulas are those of ONNX's description of
// Resize, version 19.
[[nodiscard]] Result<ResizePlan> plan_resize(const Call& call);

}  // namespace weft::onnx
