// IEEE 754 binary16, the format of numbers in fingerprints and outputs.
#pragma once

#include <cstdint>

namespace weft::proof {

// Exact: every binary16 value is a float.
[[nodiscard]] float from_half(std::uint16_t half);
// Rounds to the nearest value, ties to even; infinite from 65520 on.
[[nodiscard]] std::uint16_t to_half(float value);

}  // namespace weft::proof
