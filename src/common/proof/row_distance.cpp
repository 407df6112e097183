#include "common/proof/row_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::proof {

Result<double> row_distance(std::span<const float> claimed, std::span<const float> own) {
  const auto finite = [](std::span<const float> row) {
    return std::ranges::all_of(row, [](float value) { return std::isfinite(value); });
  };
  if (claimed.size() != own.size() || own.empty() || !finite(claimed) || !finite(own))
    return fail(ErrorCode::invalid_argument, "Rows of {} and {} numbers cannot be compared.",
                claimed.size(), own.size());
  std::vector<float> magnitudes;
  for (const float value : own) magnitudes.push_back(std::abs(value));
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::ranges::nth_element(magnitudes, middle);
  const double typical = *middle;
  double sum = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double error = std::abs(double{claimed[i]} - double{own[i]});
    const double whole = std::abs(double{own[i]}) + typical;
    sum += error == 0 ? 0 : std::min(1.0, error / whole);
  }
  return sum / static_cast<double>(own.size());
}

}  // namespace weft::proof
