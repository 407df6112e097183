// The K formats: 256 elements in sub-blocks of 16 or 32, whose scales are themselves quantized.
#include <array>

#include "engine/gguf/dequantize_blocks.h"

namespace weft::gguf::blocks {
namespace {

struct ScaleAndMinimum {
  float scale, minimum;
};

// Unpacks scale i and minimum i of Q4_K and Q5_K, which pack eight scales and eight minima of six
// bits into twelve bytes. The first four scales are in the low six bits of bytes 0 to 3, the first
// four minima in those of bytes 4 to 7. The last four of each are in the nibbles of bytes 8 to 11
// and in the high two bits of bytes 0 to 7.
ScaleAndMinimum six_bits(const std::uint8_t* packed, int i) {
  if (i < 4) return {static_cast<float>(packed[i] & 63), static_cast<float>(packed[i + 4] & 63)};
  return {static_cast<float>((packed[i + 4] & 0xF) | ((packed[i - 4] >> 6) << 4)),
          static_cast<float>((packed[i + 4] >> 4) | ((packed[i] >> 6) << 4))};
}

}  // namespace

// Block layout: (scale, minimum) nibbles[16], two bits[64], half scale, half minimum.
void q2_k(const std::uint8_t* block, float* out) {
  const std::uint8_t* quants = block + 16;
  const float scale = load_half(block + 80), minimum = load_half(block + 82);
  for (int i = 0; i < 256; ++i) {
    const std::uint8_t sub = block[i / 16];
    // In each group of 128 elements, 32 bytes hold elements 0 to 31 in their lowest two bits,
    // elements 32 to 63 in the next two bits, and so on.
    const int byte = i / 128 * 32 + i % 32, shift = i % 128 / 32 * 2;
    const float sub_scale = scale * static_cast<float>(sub & 0xF),
                sub_minimum = minimum * static_cast<float>(sub >> 4);
    out[i] = sub_scale * static_cast<float>((quants[byte] >> shift) & 3) - sub_minimum;
  }
}

// Block layout: third bits[32], two bits[64], six-bit scales[12], half scale.
void q3_k(const std::uint8_t* block, float* out) {
  const std::uint8_t* quants = block + 32;
  const std::uint8_t* packed = block + 96;
  const float scale = load_half(block + 108);
  for (int i = 0; i < 256; ++i) {
    // Scale s has its low four bits in a nibble of byte s % 8 and its high two bits in byte 8 + s %
    // 4.
    const int s = i / 16;
    const int low = s < 8 ? packed[s] & 0xF : packed[s - 8] >> 4;
    const int high = (packed[8 + s % 4] >> (s / 4 * 2)) & 3;
    const float sub_scale = scale * static_cast<float>((low | (high << 4)) - 32);
    const int byte = i / 128 * 32 + i % 32, shift = i % 128 / 32 * 2;
    // The third bit of the number; if it is 0, 4 is subtracted.
    const int third = (block[i % 32] >> (i / 32)) & 1;
    out[i] = sub_scale * static_cast<float>(((quants[byte] >> shift) & 3) - (third != 0 ? 0 : 4));
  }
}

// Block layout: half scale, half minimum, six-bit scales and minima[12], nibbles[128].
void q4_k(const std::uint8_t* block, float* out) {
  const float scale = load_half(block), minimum = load_half(block + 2);
  const std::uint8_t* quants = block + 16;
  for (int sub = 0; sub < 8; ++sub) {
    const ScaleAndMinimum six = six_bits(block + 4, sub);
    const float sub_scale = scale * six.scale, sub_minimum = minimum * six.minimum;
    // 32 bytes hold two sub-blocks: the first in the low nibbles, the second in the high nibbles.
    for (int i = 0; i < 32; ++i) {
      const std::uint8_t byte = quants[sub / 2 * 32 + i];
      out[sub * 32 + i] =
          sub_scale * static_cast<float>(sub % 2 == 0 ? byte & 0xF : byte >> 4) - sub_minimum;
    }
  }
}

// Block layout: half scale, half minimum, six-bit scales and minima[12], fifth bits[32],
// nibbles[128].
void q5_k(const std::uint8_t* block, float* out) {
  const float scale = load_half(block), minimum = load_half(block + 2);
  const std::uint8_t* high = block + 16;
  const std::uint8_t* quants = block + 48;
  for (int sub = 0; sub < 8; ++sub) {
    const ScaleAndMinimum six = six_bits(block + 4, sub);
    const float sub_scale = scale * six.scale, sub_minimum = minimum * six.minimum;
    for (int i = 0; i < 32; ++i) {
      const std::uint8_t byte = quants[sub / 2 * 32 + i];
      const int value = (sub % 2 == 0 ? byte & 0xF : byte >> 4) + (((high[i] >> sub) & 1) << 4);
      out[sub * 32 + i] = sub_scale * static_cast<float>(value) - sub_minimum;
    }
  }
}

// Block layout: nibbles[128], two bits[64], int8 scales[16], half scale. The stored number 32
// stands for the value 0.
void q6_k(const std::uint8_t* block, float* out) {
  const std::uint8_t* high = block + 128;
  const std::uint8_t* scales = block + 192;
  const float scale = load_half(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, lane = i % 32, quarter = i % 128 / 32;
    // In each group of 128 elements, quarters 0 and 2 share 32 bytes of nibbles, quarters 1 and 3
    // share the next 32 bytes, and all four share 32 bytes of high bits.
    const std::uint8_t byte = block[half * 64 + quarter % 2 * 32 + lane];
    const int low = quarter < 2 ? byte & 0xF : byte >> 4;
    const int top = (high[half * 32 + lane] >> (quarter * 2)) & 3;
    const float sub_scale = scale * static_cast<float>(static_cast<std::int8_t>(scales[i / 16]));
    out[i] = sub_scale * static_cast<float>((low | (top << 4)) - 32);
  }
}

}  // namespace weft::gguf::blocks
