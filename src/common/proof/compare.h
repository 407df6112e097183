// Comparison of two results. Exact: byte for byte. Tolerance: |a - b| <= absolute + relative *
// max(|a|, |b|) element by element; NaN agrees with NaN, and infinities agree only with equal ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/bytes.h"

namespace weft::proof {

enum class NumberType : std::uint8_t { i32, u32, f32, f16 };

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Returns nullopt if the results agree, otherwise a text about the first difference: "element 17 is
// 0.5 here and 0.75 there". Results of different sizes never agree. Integers are compared exactly,
// whatever the tolerance is.
[[nodiscard]] std::optional<std::string> difference(ByteSpan a, ByteSpan b, NumberType type,
                                                    const Tolerance& tolerance);
[[nodiscard]] std::optional<std::string> difference_exact(ByteSpan a, ByteSpan b);

}  // namespace weft::proof
