// Converts one block of each format to f32. Private to dequantize.cpp. `block` has block_bytes
// bytes, and `out` has room for block_elements floats.
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/gguf/half.h"

namespace weft::gguf::blocks {

[[nodiscard]] inline std::uint16_t load_u16(const std::uint8_t* bytes) {
  return static_cast<std::uint16_t>(bytes[0] | (bytes[1] << 8));
}
[[nodiscard]] inline float load_half(const std::uint8_t* bytes) {
  return half_to_float(load_u16(bytes));
}

using Function = void (*)(const std::uint8_t* block, float* out);

// Formats with blocks of 32 elements.
void q8_0(const std::uint8_t* block, float* out);
void q4_0(const std::uint8_t* block, float* out);
void q4_1(const std::uint8_t* block, float* out);
void q5_0(const std::uint8_t* block, float* out);
void q5_1(const std::uint8_t* block, float* out);
void iq4_nl(const std::uint8_t* block, float* out);
void mxfp4(const std::uint8_t* block, float* out);
// Formats with blocks of 256 elements.
void q2_k(const std::uint8_t* block, float* out);
void q3_k(const std::uint8_t* block, float* out);
void q4_k(const std::uint8_t* block, float* out);
void q5_k(const std::uint8_t* block, float* out);
void q6_k(const std::uint8_t* block, float* out);

}  // namespace weft::gguf::blocks
