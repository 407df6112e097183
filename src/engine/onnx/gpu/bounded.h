// Results whose shape only a run knows. NonZero and NonMaxSuppression write into a buffer that is
// large enough for every result, with counts beside the elements; the tensor is cut out of the
// buffer when it is read back.
#pragma once

#include <functional>
#include <map>

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

struct Bounded {
  std::uint64_t words = 0;  // The size of the output's buffer on the GPU.
  std::function<Result<Tensor>(std::span<const std::uint32_t> words)> read;
};

// Returns the buffer size and the reader of a node's only output, or nullopt if the node has no
// output whose shape only a run knows.
[[nodiscard]] std::optional<Bounded> bounded_output(const KernelContext& context, const Node& node);

// The bounds of a NonMaxSuppression. The output's buffer has a count and at most `rows` rows for
// each class of each image.
struct SuppressionBound {
  std::int64_t rows = 0;
  float overlap_max = 0;
  std::optional<float> score_min;
};
[[nodiscard]] std::optional<SuppressionBound> suppression_bound(const Call& call);

}  // namespace weft::onnx
