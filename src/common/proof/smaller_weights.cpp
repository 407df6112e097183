#include "common/proof/smaller_weights.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/proof/fingerprint.h"

namespace weft::proof {

Result<double> smaller_weights_ratio(ByteSpan claimed, std::span<const float> promised,
                                     std::span<const float> smaller) {
  if (promised.size() != smaller.size())
    return fail(ErrorCode::invalid_argument, "Rows of {} and {} numbers cannot be compared.",
                promised.size(), smaller.size());
  WEFT_ASSIGN(const std::vector<float> values, fingerprint_values(claimed, promised.size()));
  std::vector<double> magnitudes;
  for (const float value : values) {
    if (value != 0) magnitudes.push_back(std::abs(value));
  }
  if (magnitudes.empty()) return 0.0;
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::ranges::nth_element(magnitudes, middle);
  const double least = std::max(*std::ranges::min_element(magnitudes), *middle / 4);
  double as_promised = 0, as_smaller = 0, difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const double whole = std::abs(double{promised[i]}) + least;
    const double r = (double{values[i]} - double{promised[i]}) / whole;
    const double d = (double{smaller[i]} - double{promised[i]}) / whole;
    as_promised += r * r;
    as_smaller += (r - d) * (r - d);
    difference += d * d;
  }
  if (!std::isfinite(as_promised) || !std::isfinite(as_smaller))
    return fail(ErrorCode::invalid_argument, "A row has numbers that are not finite.");
  if (difference == 0) return 0.0;
  constexpr double rounding = 0x1p-12;
  const double variance =
      std::max(std::min(as_promised, as_smaller) / static_cast<double>(magnitudes.size()),
               rounding * rounding);
  return (as_promised - as_smaller) / (2 * variance);
}

}  // namespace weft::proof
