// Numbers within bounds, as expressions of a grammar. Numbers are written without an exponent and
// with at most 15 digits, so that the double that a reader makes of them is on the right side of a
// bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "engine/schema/rules.h"

namespace weft::schema {

struct NumberBounds {
  std::optional<double> least{}, most{};
  bool above = false, below = false;  // The bound itself does not count.

  [[nodiscard]] bool any() const { return least.has_value() || most.has_value(); }
  void raise(double bound, bool exclusive);
  void lower(double bound, bool exclusive);
};

// nullopt if there is no such number. unsupported if a bound has too many digits.
[[nodiscard]] Result<std::optional<std::string>> integer_expression(const NumberBounds& bounds);
[[nodiscard]] Result<std::optional<std::string>> number_expression(const NumberBounds& bounds);
// Integers that `divisor` (at least 2) divides: up to 15 digits, or those within the bounds.
// unsupported if these are too many to be listed, or the divisor is large without bounds.
[[nodiscard]] Result<std::optional<std::string>> multiple_expression(const NumberBounds& bounds,
                                                                     std::int64_t divisor,
                                                                     Rules& rules);

}  // namespace weft::schema
