// Elementwise operators as expressions, for kernels that compute them at places of their own.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

// The expression of an elementwise node's result; `operands` are the names of its inputs' elements,
// empty where one is not given. nullopt if the operator is not elementwise.
[[nodiscard]] std::optional<std::string> element_of(const KernelContext& context, const Node& node,
                                                    std::vector<std::string> operands,
                                                    KernelText& text);

}  // namespace weft::onnx
