// Writes grammar expressions for numbers within bounds. Numbers have no exponent and at most 15
// digits, so that the double that a reader converts them to is on the correct side of a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "engine/schema/rules.h"

namespace weft::schema {

struct NumberBounds {
  std::optional<double> least{}, most{};
  bool above = false, below = false;  // True if the bound itself is excluded.

  [[nodiscard]] bool any() const { return least.has_value() || most.has_value(); }
  void raise(double bound, bool exclusive);
  void lower(double bound, bool exclusive);
};

// Returns nullopt if no number is within the bounds. Fails with unsupported if a bound has too many
// digits.
[[nodiscard]] Result<std::optional<std::string>> integer_expression(const NumberBounds& bounds);
[[nodiscard]] Result<std::optional<std::string>> number_expression(const NumberBounds& bounds);
// Returns an expression for the integers that are multiples of `divisor` (at least 2): those of up
// to 15 digits, or those within the bounds. Fails with unsupported if the bounds contain too many
// multiples to list, or if the divisor is large and there are no bounds.
[[nodiscard]] Result<std::optional<std::string>> multiple_expression(const NumberBounds& bounds,
                                                                     std::int64_t divisor,
                                                                     Rules& rules);

}  // namespace weft::schema
