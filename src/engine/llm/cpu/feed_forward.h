// The part of a layer after its mixer: one feed-forward, or a mixture of experts, each of which is
// run for some of the positions.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "engine/llm/cpu/layers.h"

namespace weft::llm {

class CpuFeedForward {
 public:
  [[nodiscard]] static Result<CpuFeedForward> load(
      const gguf::Source& source, const Config& config,
      const std::variant<FeedForward, Experts>& weights);
  // Runs the feed-forward: `x` and `out` are [count][embedding].
  void run(const Pass& pass, std::span<const float> x, std::span<float> out) const;

 private:
  // The result of one expert for the rows of x; expert 0 is the feed-forward of a model without
  // experts.
  [[nodiscard]] std::vector<float> through(const Pass& pass, std::size_t expert,
                                           std::span<const float> x) const;

  std::optional<ExpertsShape> shape_;  // Empty if there is one feed-forward.
  // In a model with experts, gate_, up_ and down_ hold the matrices of all experts one after
  // another.
  Matrix router_, gate_, up_, down_;
};

}  // namespace weft::llm
