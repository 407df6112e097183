// Weights as the GPU reads them: every format of the file is put into one of a few, without loss,
// with quants apart from scales, so that 16 neighbouring weights (a lane) are one aligned load.
// Kernels get load16(row, lane) from the format's WGSL and know no format.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/gguf/tensor_type.h"

namespace weft::kernels {

enum class WeightFormat : std::uint8_t {
  f32,  // Also what has no format of its own here.
  f16,
  bf16,
  q8,   // int8, f16 scale for 32: Q8_0, Q5_0, IQ4_NL.
  q8m,  // uint8, f16 scale and minimum for 32: Q5_1.
  q4,   // Four bits (8 stands for 0), f16 scale for 32: Q4_0.
  q4m,  // Four bits, f16 scale and minimum for 32: Q4_1.
  q8k,  // uint8, six-bit scale and minimum for 32, f16 of both for 256: Q5_K.
  q4k,  // Four bits, the same: Q4_K.
  q6k,  // int8, int8 scale for 16, f16 scale for 256: Q6_K, Q3_K.
};
[[nodiscard]] std::string_view to_string(WeightFormat format);
[[nodiscard]] WeightFormat weight_format(gguf::TensorType type);

// Where a matrix of `columns` lies on the GPU. Rows are filled up with zeros to whole lanes of 16.
struct WeightLayout {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t columns = 0;

  [[nodiscard]] std::uint32_t lanes() const { return (columns + 15) / 16; }
  [[nodiscard]] std::uint32_t quant_row_bytes() const;  // A multiple of 8.
  [[nodiscard]] std::uint32_t scale_row_bytes() const;  // A multiple of 4; 0 for floats.
};

// Rows of a tensor of `type`, as they lie in the file, into out_quants and out_scales, which hold
// as many rows of the layout (weight_format(type), columns).
[[nodiscard]] Result<> pack_weights(gguf::TensorType type, std::uint32_t columns, ByteSpan rows,
                                    std::span<std::uint8_t> out_quants,
                                    std::span<std::uint8_t> out_scales);

// The format's WGSL: @group(0) bindings 0 (quants) and 1 (scales), and load16(row, lane) ->
// array<vec4f, 4>; it needs the constant LANES.
[[nodiscard]] std::string_view weights_wgsl(WeightFormat format);

}  // namespace weft::kernels
