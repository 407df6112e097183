// IEEE 754 binary16 as fingerprints and outputs have it.
#pragma once

#include <cstdint>

namespace weft::proof {

// Every value of it is a float.
[[nodiscard]] float from_half(std::uint16_t half);
// The nearest, ties to even; infinite from 65520 on.
[[nodiscard]] std::uint16_t to_half(float value);

}  // namespace weft::proof
