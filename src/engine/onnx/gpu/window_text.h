// Loops over a window as WGSL.
#pragma once

#include <string>

#include "engine/onnx/operators/window.h"

namespace weft::onnx {

// The loops over a kernel's spatial places: sets `place`, the input's element in its plane, from
// the output's spatial place `at`, and runs `inside` where it lies in the input. `tap` is the place
// in the kernel.
[[nodiscard]] std::string window_loops(const Window& window, std::string_view inside);

}  // namespace weft::onnx
