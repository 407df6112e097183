// Between which bounds the integers of a graph lie: what proves that an i64 may be an i32 on a GPU.
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

// The range of what a tensor holds, widened so that few different ranges exist: inputs whose
// values fit into 8, 16, 32 or 64 bits. nullopt for a float tensor.
[[nodiscard]] std::optional<IntegerRange> widened_range(const Tensor& tensor);

// By ValueId; nullopt if no range is proven. `inputs` are the ranges of the graph's inputs.
[[nodiscard]] std::vector<std::optional<IntegerRange>> integer_ranges(
    const Graph& graph, const Inference& inference,
    std::span<const std::optional<IntegerRange>> inputs);

}  // namespace weft::onnx
