#include "engine/kernels/reference/norm.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace weft::kernels::reference {
namespace {

double sum_of_squares(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  return sum;
}

}  // namespace

void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon,
              std::span<float> out) {
  check(x.size() == weight.size() && x.size() == out.size(), "a norm's vectors have one size");
  const auto scale = static_cast<float>(
      1 / std::sqrt(sum_of_squares(x) / static_cast<double>(x.size()) + epsilon));
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] * scale * weight[i];
}

void l2_norm(std::span<float> x, float epsilon) {
  const auto scale =
      static_cast<float>(1 / std::max(std::sqrt(sum_of_squares(x)), static_cast<double>(epsilon)));
  for (float& value : x) value *= scale;
}

}  // namespace weft::kernels::reference
