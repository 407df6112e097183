// Rotary position embedding of one head.
#pragma once

#include <cstdint>
#include <span>

namespace weft::kernels::reference {

// Pair p is the elements 2p and 2p + 1 (adjacent), or p and p + pairs (halves).
enum class RotaryPairs : std::uint8_t { adjacent, halves };

// Rotates pair p of the first 2 * frequencies.size() elements by position * frequencies[p] radians,
// computed in double, and scales it by `amplitude`.
void rotate(std::span<float> head, std::span<const double> frequencies, std::uint32_t position,
            RotaryPairs pairs, double amplitude = 1);

}  // namespace weft::kernels::reference
