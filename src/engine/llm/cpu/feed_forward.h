// What stands behind a layer's mixer: one feed-forward, or a mixture of experts, each of which has
// some of the positions.
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
  // [count][embedding] to [count][embedding].
  void run(const Pass& pass, std::span<const float> x, std::span<float> out) const;

 private:
  // What of x goes through the expert (0 where there is one feed-forward).
  [[nodiscard]] std::vector<float> through(const Pass& pass, std::size_t expert,
                                           std::span<const float> x) const;

  std::optional<ExpertsShape> shape_;  // None for one feed-forward.
  Matrix router_, gate_, up_, down_;   // Experts' stand one below the other.
};

}  // namespace weft::llm
