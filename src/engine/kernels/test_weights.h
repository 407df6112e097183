// Random weights of every format for the tests of kernels.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "engine/gguf/dequantize.h"
#include "engine/gguf/half.h"
#include "engine/gguf/tensor_type.h"

namespace weft::kernels::test {

struct Matrix {
  gguf::TensorType type = gguf::TensorType::f32;
  std::uint32_t rows = 0, columns = 0;
  ByteVector bytes;           // The weights in the file's format.
  std::vector<float> values;  // The shape is [row][column].
  float top = 0;              // The largest magnitude among `values`.

  [[nodiscard]] std::span<const float> row(std::size_t at) const {
    return std::span(values).subspan(at * columns, columns);
  }
};

// Makes a random matrix. Random bits are valid quants; the f16 numbers among them are set to usual
// sizes, some of them subnormal.
inline Matrix random_matrix(gguf::TensorType type, std::uint32_t rows, std::uint32_t columns) {
  const gguf::TensorTypeInfo& about = gguf::info(type);
  Matrix matrix{type, rows, columns,
                ByteVector(std::size_t{rows} * columns / about.block_elements * about.block_bytes),
                std::vector<float>(std::size_t{rows} * columns)};
  std::mt19937 random(rows * 7 + columns);
  for (auto& byte : matrix.bytes) byte = static_cast<std::uint8_t>(random());
  const auto set_half = [&](std::size_t at, float value) {
    const std::uint16_t half = gguf::float_to_half(value);
    std::memcpy(matrix.bytes.data() + at, &half, 2);
  };
  const auto some = [&] {
    return std::ldexp(1.0f + static_cast<float>(random() % 1024) / 1024,
                      -static_cast<int>(random() % 12) - 6);
  };
  for (std::size_t at = 0; at < matrix.bytes.size(); at += about.block_bytes) {
    using gguf::TensorType;
    switch (type) {
      case TensorType::f32: {
        const float value = some();
        std::memcpy(matrix.bytes.data() + at, &value, 4);
        break;
      }
      case TensorType::f16:
        set_half(at, some());
        break;
      case TensorType::bf16:
        matrix.bytes[at + 1] = static_cast<std::uint8_t>(0x3A | (random() & 0x80));
        break;
      case TensorType::mxfp4:
        matrix.bytes[at] = static_cast<std::uint8_t>(118 + random() % 8);
        break;
      case TensorType::q6_k:
        set_half(at + 208, some());
        break;
      case TensorType::q3_k:
        set_half(at + 108, some());
        break;
      case TensorType::q2_k:
        set_half(at + 80, some());
        set_half(at + 82, some());
        break;
      default:
        set_half(at, some());
        if (type == TensorType::q4_1 || type == TensorType::q5_1 || type == TensorType::q4_k ||
            type == TensorType::q5_k)
          set_half(at + 2, -some());
    }
  }
  EXPECT_TRUE(gguf::dequantize(type, matrix.bytes, matrix.values).has_value());
  for (const float value : matrix.values) matrix.top = std::max(matrix.top, std::abs(value));
  return matrix;
}

}  // namespace weft::kernels::test
