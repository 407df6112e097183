// Brings a GPU to its working clock before a measurement.
#pragma once

#include "engine/gpu/device.h"

namespace weft::onnx {

// Keeps a GPU busy for half a second. Does nothing on a software device, which has no clock to
// raise.
[[nodiscard]] Async<Result<>> warm_up(gpu::Device& device);

}  // namespace weft::onnx
