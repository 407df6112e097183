// Chooses the values that are stored in memory as 16-bit floats.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Returns, by ValueId, true for values that must keep the computed bits in four bytes: inputs and
// outputs of the graph, values that cross `barrier`, values with a bound instead of a shape, values
// that are known before the run, and values that share memory with such a value.
[[nodiscard]] std::vector<bool> full_values(const KernelContext& context, const Schedule& schedule,
                                            std::size_t barrier);
// Returns, by ValueId, true for the float values that are not in `full`, and for the weights of
// products and convolutions if 16 bits can hold their numbers.
[[nodiscard]] std::vector<bool> half_values(const KernelContext& context,
                                            const std::vector<bool>& full);

}  // namespace weft::onnx
