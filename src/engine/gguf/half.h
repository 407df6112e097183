// Converts 16-bit floats to f32 exactly, and f32 to the nearest 16-bit float.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::gguf {

// Converts an IEEE 754 binary16 number to f32.
[[nodiscard]] constexpr float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1F;
  const std::uint32_t mantissa = half & 0x3FF;
  if (exponent == 0) {  // Zero or subnormal: the value is mantissa * 2^-24.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// Converts a bfloat16, which is the upper half of an f32.
[[nodiscard]] constexpr float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Returns the nearest binary16, ties to even, and infinity for values beyond 65519.
[[nodiscard]] constexpr std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;   // NaN stays NaN.
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // 65520 and more become infinity.
  if (magnitude < 0x38800000) {  // Below 2^-14 the result is a multiple of 2^-24.
    const float scaled = std::bit_cast<float>(magnitude) +
                         0.5f;  // The ulp of [0.5, 1) is 2^-24, so adding 0.5 rounds.
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(scaled) -
                                             std::bit_cast<std::uint32_t>(0.5f));
  }
  const std::uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return sign | static_cast<std::uint16_t>((rounded - 0x38000000) >> 13);
}

}  // namespace weft::gguf
