// Elementwise operators as WGSL expressions, for kernels that choose the elements to compute.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

// Returns the expression for the result of an elementwise node. `operands` holds the names of the
// elements of its inputs, with an empty name for an input that is not given. Returns nullopt if the
// operator is not elementwise.
[[nodiscard]] std::optional<std::string> element_of(const KernelContext& context, const Node& node,
                                                    std::vector<std::string> operands,
                                                    KernelText& text);

}  // namespace weft::onnx
