#include "engine/gguf/dequantize.h"

#include <array>
#include <bit>

#include "engine/gguf/dequantize_blocks.h"

namespace weft::gguf {
namespace blocks {
namespace {

// Returns value i of 32 values of four bits in 16 bytes: the low bits are elements 0 to 15, the
// high bits elements 16 to 31.
std::int32_t nibble(const std::uint8_t* quants, int i) {
  return i < 16 ? quants[i] & 0xF : quants[i - 16] >> 4;
}
// Returns value i of 32 values of five bits: the four low bits as in nibble(), and the fifth bits
// in four bytes.
std::int32_t five_bits(const std::uint8_t* high, const std::uint8_t* quants, int i) {
  return nibble(quants, i) | (((high[i / 8] >> (i % 8)) & 1) << 4);
}

void f32(const std::uint8_t* block, float* out) { std::memcpy(out, block, sizeof(float)); }
void f16(const std::uint8_t* block, float* out) { *out = load_half(block); }
void bf16(const std::uint8_t* block, float* out) { *out = bfloat_to_float(load_u16(block)); }

}  // namespace

// Block layout: half scale, int8[32].
void q8_0(const std::uint8_t* block, float* out) {
  const float scale = load_half(block);
  for (int i = 0; i < 32; ++i)
    out[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * scale;
}

// Block layout: half scale, nibbles[16]. The stored number 8 stands for the value 0.
void q4_0(const std::uint8_t* block, float* out) {
  const float scale = load_half(block);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(nibble(block + 2, i) - 8) * scale;
}

// Block layout: half scale, half minimum, nibbles[16].
void q4_1(const std::uint8_t* block, float* out) {
  const float scale = load_half(block), minimum = load_half(block + 2);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(nibble(block + 4, i)) * scale + minimum;
}

// Block layout: half scale, fifth bits[4], nibbles[16]. The stored number 16 stands for the value
// 0.
void q5_0(const std::uint8_t* block, float* out) {
  const float scale = load_half(block);
  for (int i = 0; i < 32; ++i)
    out[i] = static_cast<float>(five_bits(block + 2, block + 6, i) - 16) * scale;
}

// Block layout: half scale, half minimum, fifth bits[4], nibbles[16].
void q5_1(const std::uint8_t* block, float* out) {
  const float scale = load_half(block), minimum = load_half(block + 2);
  for (int i = 0; i < 32; ++i)
    out[i] = static_cast<float>(five_bits(block + 4, block + 8, i)) * scale + minimum;
}

// Block layout: half scale, nibbles[16] that each select one of 16 levels, which are denser around
// 0.
void iq4_nl(const std::uint8_t* block, float* out) {
  static constexpr std::array<std::int8_t, 16> levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                         1,    13,   25,  38,  53,  69,  89,  113};
  const float scale = load_half(block);
  for (int i = 0; i < 32; ++i)
    out[i] = scale * static_cast<float>(levels[static_cast<std::size_t>(nibble(block + 2, i))]);
}

// Block layout: exponent e of a power of two, nibbles[16] of E2M1 (OCP MX). The levels are doubled
// so that they are integers, and the scale 2^(e - 127) is halved.
void mxfp4(const std::uint8_t* block, float* out) {
  static constexpr std::array<std::int8_t, 16> levels = {0, 1,  2,  3,  4,  6,  8,  12,
                                                         0, -1, -2, -3, -4, -6, -8, -12};
  const std::uint32_t exponent = block[0];
  const float scale =
      std::bit_cast<float>(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
  for (int i = 0; i < 32; ++i)
    out[i] = static_cast<float>(levels[static_cast<std::size_t>(nibble(block + 1, i))]) * scale;
}

}  // namespace blocks

namespace {

blocks::Function function_for(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return blocks::f32;
    case TensorType::f16:
      return blocks::f16;
    case TensorType::bf16:
      return blocks::bf16;
    case TensorType::q8_0:
      return blocks::q8_0;
    case TensorType::q4_0:
      return blocks::q4_0;
    case TensorType::q4_1:
      return blocks::q4_1;
    case TensorType::q5_0:
      return blocks::q5_0;
    case TensorType::q5_1:
      return blocks::q5_1;
    case TensorType::q2_k:
      return blocks::q2_k;
    case TensorType::q3_k:
      return blocks::q3_k;
    case TensorType::q4_k:
      return blocks::q4_k;
    case TensorType::q5_k:
      return blocks::q5_k;
    case TensorType::q6_k:
      return blocks::q6_k;
    case TensorType::iq4_nl:
      return blocks::iq4_nl;
    case TensorType::mxfp4:
      return blocks::mxfp4;
    default:
      return nullptr;
  }
}

}  // namespace

bool can_dequantize(TensorType type) { return function_for(type) != nullptr; }

Result<> dequantize(TensorType type, ByteSpan bytes, std::span<float> out) {
  const blocks::Function function = function_for(type);
  const TensorTypeInfo& about = info(type);
  if (function == nullptr)
    return fail(ErrorCode::unsupported, "The weight format {} is not supported.", about.name);
  const std::size_t count = bytes.size() / about.block_bytes;
  if (bytes.size() % about.block_bytes != 0 || out.size() != count * about.block_elements)
    return fail(ErrorCode::invalid_argument, "{} bytes of {} are not {} elements.", bytes.size(),
                about.name, out.size());
  for (std::size_t i = 0; i < count; ++i)
    function(bytes.data() + i * about.block_bytes, out.data() + i * about.block_elements);
  return {};
}

}  // namespace weft::gguf
