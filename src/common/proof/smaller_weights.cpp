#include "common/proof/smaller_weights.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/proof/fingerprint.h"

namespace weft::proof {
namespace {

// The rounding of a number in a fingerprint.
constexpr double rounding = 0x1p-12;
// The least root mean square of the change by the weights. The rounding of the promised fingerprint
// is a part both of r and of d, so that the two are not independent if d is as small as that.
constexpr double difference_least = 4 * rounding;

// An entry counts if its error is at most this many times the median error. Otherwise a worker
// could spoil a few entries of its claim, which no tolerance of the median notices, and so raise s.
constexpr double outlier = 4;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The ratio over the entries that are not 0 in `claimed`, `promised` and `smaller`.
Result<double> ratio_of(std::span<const float> claimed, std::span<const float> promised,
                        std::span<const float> smaller, std::size_t entries_least) {
  std::vector<double> magnitudes;
  for (const float value : claimed) {
    if (value != 0) magnitudes.push_back(std::abs(value));
  }
  if (magnitudes.empty()) return 0.0;
  const double least = std::max(*std::ranges::min_element(magnitudes), median(magnitudes) / 4);
  std::vector<double> errors, changes;  // r and d of the entries that all three have.
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (claimed[i] == 0 || promised[i] == 0 || smaller[i] == 0) continue;
    const double whole = std::abs(double{promised[i]}) + least;
    errors.push_back((double{claimed[i]} - double{promised[i]}) / whole);
    changes.push_back((double{smaller[i]} - double{promised[i]}) / whole);
    if (!std::isfinite(errors.back()) || !std::isfinite(changes.back()))
      return fail(ErrorCode::invalid_argument, "A row has numbers that are not finite.");
  }
  if (errors.size() < std::max<std::size_t>(entries_least, 1)) return 0.0;
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  const double error_max = outlier * std::max(median(sizes), rounding);
  double as_promised = 0, as_smaller = 0, difference = 0, count = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (sizes[i] > error_max) continue;
    as_promised += errors[i] * errors[i];
    as_smaller += (errors[i] - changes[i]) * (errors[i] - changes[i]);
    difference += changes[i] * changes[i];
    count += 1;
  }
  if (difference <= count * difference_least * difference_least) return 0.0;
  const double variance = std::max(as_promised / count, rounding * rounding);
  return (as_promised - as_smaller) / (2 * variance);
}

}  // namespace

Result<double> smaller_weights_ratio(ByteSpan claimed, std::span<const float> promised,
                                     std::span<const float> smaller) {
  if (promised.size() != smaller.size())
    return fail(ErrorCode::invalid_argument, "Rows of {} and {} numbers cannot be compared.",
                promised.size(), smaller.size());
  WEFT_ASSIGN(const std::vector<float> values, fingerprint_values(claimed, promised.size()));
  return ratio_of(values, promised, smaller, 1);
}

Result<double> smaller_weights_ratio(ByteSpan claimed, ByteSpan promised, ByteSpan smaller,
                                     std::size_t width) {
  WEFT_ASSIGN(const std::vector<float> values, fingerprint_values(claimed, width));
  WEFT_ASSIGN(const std::vector<float> own, fingerprint_values(promised, width));
  WEFT_ASSIGN(const std::vector<float> other, fingerprint_values(smaller, width));
  return ratio_of(values, own, other, std::min(width, fingerprint_entries_max) / 2);
}

RatioSum add_ratios(double sum, std::span<const double> ratios) {
  RatioSum out{.sum = sum};
  for (const double ratio : ratios) {
    const double next = out.sum + ratio;
    if (std::isfinite(next)) out.sum = std::clamp(next, 0.0, ratio_least);
    out.highest = std::max(out.highest, out.sum);
  }
  return out;
}

}  // namespace weft::proof
