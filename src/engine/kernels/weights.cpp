#include "engine/kernels/weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "common/base/check.h"
#include "engine/gguf/dequantize.h"
#include "engine/kernels/weights_bf16.wgsl.h"
#include "engine/kernels/weights_f16.wgsl.h"
#include "engine/kernels/weights_f32.wgsl.h"
#include "engine/kernels/weights_q4.wgsl.h"
#include "engine/kernels/weights_q4k.wgsl.h"
#include "engine/kernels/weights_q4m.wgsl.h"
#include "engine/kernels/weights_q6k.wgsl.h"
#include "engine/kernels/weights_q8.wgsl.h"
#include "engine/kernels/weights_q8k.wgsl.h"
#include "engine/kernels/weights_q8m.wgsl.h"

namespace weft::kernels {

using gguf::TensorType;

std::string_view to_string(WeightFormat format) {
  static constexpr std::array<std::string_view, 10> names = {"f32", "f16", "bf16", "q8",  "q8m",
                                                             "q4",  "q4m", "q8k",  "q4k", "q6k"};
  return names[static_cast<std::size_t>(format)];
}

WeightFormat weight_format(TensorType type) {
  switch (type) {
    case TensorType::f16:
      return WeightFormat::f16;
    case TensorType::bf16:
      return WeightFormat::bf16;
    case TensorType::q8_0:
    case TensorType::q5_0:
    case TensorType::iq4_nl:
      return WeightFormat::q8;
    case TensorType::q5_1:
      return WeightFormat::q8m;
    case TensorType::q4_0:
      return WeightFormat::q4;
    case TensorType::q4_1:
      return WeightFormat::q4m;
    case TensorType::q5_k:
      return WeightFormat::q8k;
    case TensorType::q4_k:
      return WeightFormat::q4k;
    case TensorType::q6_k:
    case TensorType::q3_k:
      return WeightFormat::q6k;
    default:
      return WeightFormat::f32;
  }
}

std::uint32_t WeightLayout::quant_row_bytes() const {
  switch (format) {
    case WeightFormat::f32:
      return lanes() * 64;
    case WeightFormat::f16:
    case WeightFormat::bf16:
      return lanes() * 32;
    case WeightFormat::q4:
    case WeightFormat::q4m:
    case WeightFormat::q4k:
      return lanes() * 8;
    default:
      return lanes() * 16;
  }
}

std::uint32_t WeightLayout::scale_row_bytes() const {
  switch (format) {
    case WeightFormat::f32:
    case WeightFormat::f16:
    case WeightFormat::bf16:
      return 0;
    case WeightFormat::q8:
    case WeightFormat::q4:
      return (columns + 63) / 64 * 4;
    case WeightFormat::q8m:
    case WeightFormat::q4m:
      return columns / 32 * 4;
    case WeightFormat::q8k:
    case WeightFormat::q4k:
    case WeightFormat::q6k:
      return columns / 256 * 20;
  }
  return 0;
}

std::string_view weights_wgsl(WeightFormat format) {
  switch (format) {
    case WeightFormat::f32:
      return wgsl::weights_f32_wgsl;
    case WeightFormat::f16:
      return wgsl::weights_f16_wgsl;
    case WeightFormat::bf16:
      return wgsl::weights_bf16_wgsl;
    case WeightFormat::q8:
      return wgsl::weights_q8_wgsl;
    case WeightFormat::q8m:
      return wgsl::weights_q8m_wgsl;
    case WeightFormat::q4:
      return wgsl::weights_q4_wgsl;
    case WeightFormat::q4m:
      return wgsl::weights_q4m_wgsl;
    case WeightFormat::q8k:
      return wgsl::weights_q8k_wgsl;
    case WeightFormat::q4k:
      return wgsl::weights_q4k_wgsl;
    case WeightFormat::q6k:
      return wgsl::weights_q6k_wgsl;
  }
  return {};
}

namespace {

using Bytes = std::uint8_t*;
using ConstBytes = const std::uint8_t*;

// Element i of 32 in ggml's order: the low nibbles of 16 bytes, then the high ones.
std::uint8_t nibble(ConstBytes quants, std::size_t i) {
  return i < 16 ? quants[i] & 0xF : quants[i - 16] >> 4;
}
std::uint8_t fifth_bit(ConstBytes high, std::size_t i) {
  return static_cast<std::uint8_t>(((high[i / 8] >> (i % 8)) & 1) << 4);
}
std::uint8_t byte(int value) { return static_cast<std::uint8_t>(static_cast<std::int8_t>(value)); }

// Packs 16 four-bit values into 8 bytes: word w has elements 8w to 8w + 3 in the low nibbles of its
// bytes and 8w + 4 to 8w + 7 in the high ones, so that a mask and a shift give packed bytes.
void pack_nibbles(const std::array<std::uint8_t, 16>& values, Bytes out) {
  for (std::size_t i = 0; i < 8; ++i)
    out[i] =
        static_cast<std::uint8_t>(values[i / 4 * 8 + i % 4] | (values[i / 4 * 8 + i % 4 + 4] << 4));
}

// The six-bit scale and minimum `i` of Q4_K and Q5_K.
std::array<std::uint8_t, 2> six_bits(ConstBytes packed, std::size_t i) {
  if (i < 4)
    return {static_cast<std::uint8_t>(packed[i] & 63),
            static_cast<std::uint8_t>(packed[i + 4] & 63)};
  return {static_cast<std::uint8_t>((packed[i + 4] & 0xF) | ((packed[i - 4] >> 6) << 4)),
          static_cast<std::uint8_t>((packed[i + 4] >> 4) | ((packed[i] >> 6) << 4))};
}

// The functions pack_* pack one block each: `quants` and `scales` point to the block's part of the
// row.
void pack_q8_0(ConstBytes block, Bytes quants, Bytes scales) {
  std::memcpy(scales, block, 2);
  std::memcpy(quants, block + 2, 32);
}
void pack_q5_0(ConstBytes block, Bytes quants, Bytes scales) {
  std::memcpy(scales, block, 2);
  for (std::size_t i = 0; i < 32; ++i)
    quants[i] = byte((nibble(block + 6, i) | fifth_bit(block + 2, i)) - 16);
}
void pack_iq4_nl(ConstBytes block, Bytes quants, Bytes scales) {
  static constexpr std::array<int, 16> levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                 1,    13,   25,  38,  53,  69,  89,  113};
  std::memcpy(scales, block, 2);
  for (std::size_t i = 0; i < 32; ++i) quants[i] = byte(levels[nibble(block + 2, i)]);
}
void pack_q5_1(ConstBytes block, Bytes quants, Bytes scales) {
  std::memcpy(scales, block, 4);
  for (std::size_t i = 0; i < 32; ++i) quants[i] = nibble(block + 8, i) | fifth_bit(block + 4, i);
}
void pack_32_nibbles(ConstBytes nibbles, Bytes quants) {
  for (std::size_t half = 0; half < 2; ++half) {
    std::array<std::uint8_t, 16> values;
    for (std::size_t i = 0; i < 16; ++i) values[i] = nibble(nibbles, half * 16 + i);
    pack_nibbles(values, quants + half * 8);
  }
}
void pack_q4_0(ConstBytes block, Bytes quants, Bytes scales) {
  std::memcpy(scales, block, 2);
  pack_32_nibbles(block + 2, quants);
}
void pack_q4_1(ConstBytes block, Bytes quants, Bytes scales) {
  std::memcpy(scales, block, 4);
  pack_32_nibbles(block + 4, quants);
}
void pack_k_scales(ConstBytes block, Bytes scales) {
  std::memcpy(scales, block, 4);
  for (std::size_t sub = 0; sub < 8; ++sub) {
    const auto six = six_bits(block + 4, sub);
    std::memcpy(scales + 4 + 2 * sub, six.data(), 2);
  }
}
void pack_q4_k(ConstBytes block, Bytes quants, Bytes scales) {
  pack_k_scales(block, scales);
  for (std::size_t lane = 0; lane < 16; ++lane) {
    std::array<std::uint8_t, 16> values;
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t sub = lane / 2, at = lane % 2 * 16 + i;
      const std::uint8_t both = block[16 + sub / 2 * 32 + at];
      values[i] = sub % 2 == 0 ? both & 0xF : both >> 4;
    }
    pack_nibbles(values, quants + lane * 8);
  }
}
void pack_q5_k(ConstBytes block, Bytes quants, Bytes scales) {
  pack_k_scales(block, scales);
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t sub = i / 32, at = i % 32;
    const std::uint8_t both = block[48 + sub / 2 * 32 + at];
    quants[i] = static_cast<std::uint8_t>((sub % 2 == 0 ? both & 0xF : both >> 4) |
                                          (((block[16 + at] >> sub) & 1) << 4));
  }
}
void pack_q6_k(ConstBytes block, Bytes quants, Bytes scales) {
  std::memset(scales, 0, 4);
  std::memcpy(scales, block + 208, 2);
  std::memcpy(scales + 4, block + 192, 16);
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t half = i / 128, at = i % 32, quarter = i % 128 / 32;
    const std::uint8_t both = block[half * 64 + quarter % 2 * 32 + at];
    const int low = quarter < 2 ? both & 0xF : both >> 4;
    const int high = (block[128 + half * 32 + at] >> (quarter * 2)) & 3;
    quants[i] = byte((low | (high << 4)) - 32);
  }
}
void pack_q3_k(ConstBytes block, Bytes quants, Bytes scales) {
  std::memset(scales, 0, 4);
  std::memcpy(scales, block + 108, 2);
  for (std::size_t s = 0; s < 16; ++s) {
    const int low = s < 8 ? block[96 + s] & 0xF : block[96 + s - 8] >> 4;
    const int high = (block[104 + s % 4] >> (s / 4 * 2)) & 3;
    scales[4 + s] = byte((low | (high << 4)) - 32);
  }
  for (std::size_t i = 0; i < 256; ++i) {
    const int low = (block[32 + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    quants[i] = byte(low - (((block[i % 32] >> (i / 32)) & 1) != 0 ? 0 : 4));
  }
}

struct Packing {
  void (*pack)(ConstBytes block, Bytes quants, Bytes scales) = nullptr;
  std::size_t quant_bytes = 0, scale_bytes = 0;  // The sizes of one packed block.
};
Packing packing_of(TensorType type) {
  switch (type) {
    case TensorType::q8_0:
      return {pack_q8_0, 32, 2};
    case TensorType::q5_0:
      return {pack_q5_0, 32, 2};
    case TensorType::iq4_nl:
      return {pack_iq4_nl, 32, 2};
    case TensorType::q5_1:
      return {pack_q5_1, 32, 4};
    case TensorType::q4_0:
      return {pack_q4_0, 16, 2};
    case TensorType::q4_1:
      return {pack_q4_1, 16, 4};
    case TensorType::q4_k:
      return {pack_q4_k, 128, 20};
    case TensorType::q5_k:
      return {pack_q5_k, 256, 20};
    case TensorType::q6_k:
      return {pack_q6_k, 256, 20};
    case TensorType::q3_k:
      return {pack_q3_k, 256, 20};
    default:
      return {};
  }
}

}  // namespace

Result<> pack_weights(TensorType type, std::uint32_t columns, ByteSpan rows,
                      std::span<std::uint8_t> out_quants, std::span<std::uint8_t> out_scales) {
  const WeightLayout layout{weight_format(type), columns};
  const gguf::TensorTypeInfo& about = gguf::info(type);
  const std::size_t row_bytes = std::size_t{columns} / about.block_elements * about.block_bytes;
  const std::size_t count = rows.size() / row_bytes, quant_row = layout.quant_row_bytes(),
                    scale_row = layout.scale_row_bytes();
  check(rows.size() == count * row_bytes && out_quants.size() == count * quant_row &&
            out_scales.size() == count * scale_row,
        "weights are packed in whole rows");
  const Packing packing = packing_of(type);
  const bool as_it_is =
      type == TensorType::f32 || type == TensorType::f16 || type == TensorType::bf16;
  std::vector<float> floats(packing.pack == nullptr && !as_it_is ? columns : 0);
  for (std::size_t row = 0; row < count; ++row) {
    const ByteSpan in = rows.subspan(row * row_bytes, row_bytes);
    const std::span<std::uint8_t> quants = out_quants.subspan(row * quant_row, quant_row),
                                  scales = out_scales.subspan(row * scale_row, scale_row);
    if (packing.pack != nullptr) {
      if (scale_row > columns / about.block_elements * packing.scale_bytes)
        scales[scale_row - 2] = scales[scale_row - 1] = 0;  // Two zeros pad the row to whole words.
      for (std::size_t block = 0; block < columns / about.block_elements; ++block)
        packing.pack(in.data() + block * about.block_bytes,
                     quants.data() + block * packing.quant_bytes,
                     scales.data() + block * packing.scale_bytes);
      continue;
    }
    std::ranges::fill(quants, std::uint8_t{0});
    if (as_it_is) {
      std::memcpy(quants.data(), in.data(), in.size());
    } else {
      WEFT_OK(gguf::dequantize(type, in, floats));
      std::memcpy(quants.data(), floats.data(), columns * sizeof(float));
    }
  }
  return {};
}

}  // namespace weft::kernels
