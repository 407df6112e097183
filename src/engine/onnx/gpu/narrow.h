// Arithmetic on integers that are narrower than the 32 bits of a GPU.
#pragma once

#include <string>

#include "engine/onnx/element_type.h"

namespace weft::onnx {

// Returns WGSL that wraps an integer result to the range of its type.
[[nodiscard]] std::string narrowed(ElementType type, const std::string& text);
// Returns WGSL that rounds a float to the nearest integer (ties to even), adds `zero` (an i32) and
// clamps the sum to the range of an integer type of at most 16 bits.
[[nodiscard]] std::string saturated(ElementType type, const std::string& value,
                                    const std::string& zero);

}  // namespace weft::onnx
