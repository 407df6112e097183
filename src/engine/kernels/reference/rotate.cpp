#include "engine/kernels/reference/rotate.h"

#include <cmath>

#include "common/base/check.h"

namespace weft::kernels::reference {

void rotate(std::span<float> head, std::span<const double> frequencies, std::uint32_t position,
            RotaryPairs pairs, double amplitude) {
  const std::size_t count = frequencies.size();
  check(2 * count <= head.size(), "the rotated part fits into the head");
  for (std::size_t p = 0; p < count; ++p) {
    const double angle = position * frequencies[p];
    const auto cosine = static_cast<float>(amplitude * std::cos(angle));
    const auto sine = static_cast<float>(amplitude * std::sin(angle));
    float& x = head[pairs == RotaryPairs::adjacent ? 2 * p : p];
    float& y = head[pairs == RotaryPairs::adjacent ? 2 * p + 1 : p + count];
    const float turned = x * cosine - y * sine;
    y = x * sine + y * cosine;
    x = turned;
  }
}

}  // namespace weft::kernels::reference
