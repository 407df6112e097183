// A GPU at its working clock, before something is timed.
#pragma once

#include "engine/gpu/device.h"

namespace weft::onnx {

// Keeps a GPU busy for half a second; a software device has no clock to raise.
[[nodiscard]] Async<Result<>> warm_up(gpu::Device& device);

}  // namespace weft::onnx
