// Infers the ranges of the integers of a graph, which prove that an i64 can be an i32 on a GPU.
#pragma once

#include <optional>
#include <span>

#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  [[nodiscard]] bool fits_i32() const;
};

// Returns the range of the values of a tensor, widened to 8, 16, 32 or 64 bits so that few
// different ranges occur. Returns nullopt for a float tensor.
[[nodiscard]] std::optional<IntegerRange> widened_range(const Tensor& tensor);

// Returns the range of each value by ValueId, or nullopt if no range is proven. `input_ranges`
// holds the ranges of the graph's inputs.
[[nodiscard]] std::vector<std::optional<IntegerRange>> integer_ranges(
    const Graph& graph, const Inference& inference,
    std::span<const std::optional<IntegerRange>> inputs);

}  // namespace weft::onnx
