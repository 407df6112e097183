// Integers that are narrower than a GPU's 32 bits.
#pragma once

#include <string>

#include "engine/onnx/element_type.h"

namespace weft::onnx {

// WGSL for an integer result as its type holds it: what does not fit wraps around.
[[nodiscard]] std::string narrowed(ElementType type, const std::string& text);
// WGSL for a float rounded to the nearest (ties to even), moved by `zero` (an i32) and cut to the
// range of an integer type of at most 16 bits.
[[nodiscard]] std::string saturated(ElementType type, const std::string& value,
                                    const std::string& zero);

}  // namespace weft::onnx
