// Writes loops over a window as WGSL.
#pragma once

#include <string>

#include "engine/onnx/operators/window.h"

namespace weft::onnx {

// Returns loops over the spatial places of a convolution's or pooling's kernel. For the output's
// spatial place `at`, they set `tap` to the place in the kernel and `place` to the element of the
// input in its plane, and run `inside` for places that lie in the input.
[[nodiscard]] std::string window_loops(const Window& window, std::string_view inside);

}  // namespace weft::onnx
