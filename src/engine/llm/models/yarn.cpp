#include "engine/llm/models/yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::llm {

void stretch(Rope& rope, const Yarn& yarn, double base) {
  const auto dimensions = static_cast<double>(2 * rope.frequencies.size());
  // The index of the pair that turns `turns` times within the trained positions.
  const auto pair_of = [&](double turns) {
    return dimensions * std::log(yarn.trained / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(base));
  };
  const double first = std::max(0.0, std::floor(pair_of(yarn.fast)));
  const double last = std::min(dimensions - 1, std::ceil(pair_of(yarn.slow)));
  constexpr double width_min = 0.001;
  for (std::size_t pair = 0; pair < rope.frequencies.size(); ++pair) {
    const double along = (static_cast<double>(pair) - first) / std::max(width_min, last - first);
    const double stays = 1 - std::clamp(along, 0.0, 1.0);
    rope.frequencies[pair] *= stays + (1 - stays) / yarn.factor;
  }
  const auto amplitude = [&](double multiplier) {
    return 1 + 0.1 * multiplier * std::log(yarn.factor);
  };
  rope.amplitude =
      yarn.attention_factor *
      (yarn.log_multiplier == 0 ? amplitude(1) : amplitude(1) / amplitude(yarn.log_multiplier));
}

}  // namespace weft::llm
