// Results whose shape only a run knows: NonZero and NonMaxSuppression write into as much room as
// they can need, with counts beside; the tensor is cut out of it when it leaves the GPU.
#pragma once

#include <functional>
#include <map>

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

struct Bounded {
  std::uint64_t words = 0;  // Its room on the GPU.
  std::function<Result<Tensor>(std::span<const std::uint32_t> words)> read;
};

// The room of a node's only output; nullopt if the node has no output of that kind.
[[nodiscard]] std::optional<Bounded> bounded_output(const KernelContext& context, const Node& node);

// What a NonMaxSuppression may keep: for each class of each image a count and so many rows.
struct SuppressionBound {
  std::int64_t rows = 0;
  float overlap_max = 0;
  std::optional<float> score_min;
};
[[nodiscard]] std::optional<SuppressionBound> suppression_bound(const Call& call);

}  // namespace weft::onnx
