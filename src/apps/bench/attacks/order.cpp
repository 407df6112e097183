#include "apps/bench/attacks/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::coordinator::bench {
namespace {

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Order order_of(std::span<const Measured> all, double deviations) {
  Order order;
  for (const Measured& above : all) {
    for (const Measured& below : all) {
      const double apart = mean_of(above.simulated) - mean_of(below.simulated);
      const double noise =
          deviations * std::hypot(deviation_of(above.simulated), deviation_of(below.simulated));
      if (apart < 1 || apart <= noise) continue;
      ++order.pairs;
      if (above.real > below.real) {
        ++order.agree;
      } else {
        order.broken.push_back(above.name + ", " + below.name);
      }
    }
  }
  return order;
}

std::vector<std::uint32_t> places_of(std::span<const double> values) {
  std::vector<std::uint32_t> places;
  for (const double value : values)
    places.push_back(1 + static_cast<std::uint32_t>(std::ranges::count_if(
                             values, [&](double other) { return other > value; })));
  return places;
}

}  // namespace weft::coordinator::bench
