// Which values lie in memory as 16-bit floats.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// By ValueId: values that have to keep the bits that were computed, in four bytes. These are inputs
// and outputs of the graph, what crosses `barrier`, what has a bound instead of a shape, what is
// known, and what shares memory with such values.
[[nodiscard]] std::vector<bool> full_values(const KernelContext& context, const Schedule& schedule,
                                            std::size_t barrier);
// The floats among the others, and weights of products and convolutions, if 16 bits hold them.
[[nodiscard]] std::vector<bool> half_values(const KernelContext& context,
                                            const std::vector<bool>& full);

}  // namespace weft::onnx
