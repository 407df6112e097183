// Resampling along each dimension by itself: which input elements make an output element, and with
// which weights. Used on the processor and on a GPU.
#pragma once

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

struct Tap {
  std::int64_t place = 0;
  float weight = 0;
};
// The taps of each output element along one dimension; none: the extrapolation value.
using Taps = std::vector<std::vector<Tap>>;

struct ResizePlan {
  Shape output;
  std::vector<Taps> dimensions;  // One for each dimension of the input.
  float extrapolation = 0;
};
// The plan of a Resize or Upsample node. Formulas: ONNX's description of Resize, version 19.
[[nodiscard]] Result<ResizePlan> plan_resize(const Call& call);

}  // namespace weft::onnx
