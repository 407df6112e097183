// Weights in the GPU's formats: every format of a file is converted without loss to one of a few
// formats, with quants and scales apart, so that 16 neighbouring weights (a lane) are one aligned
// load. Kernels read them with load16(row, lane) of the format's WGSL and do not depend on the
// format.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/gguf/tensor_type.h"

namespace weft::kernels {

enum class WeightFormat : std::uint8_t {
  f32,  // Also used for file formats that are not listed below.
  f16,
  bf16,
  q8,   // int8; f16 scale for every 32: Q8_0, Q5_0, IQ4_NL.
  q8m,  // uint8; f16 scale and minimum for every 32: Q5_1.
  q4,   // 4 bits (8 means 0); f16 scale for every 32: Q4_0.
  q4m,  // 4 bits; f16 scale and minimum for every 32: Q4_1.
  q8k,  // uint8; six-bit scale and minimum for every 32, f16 factors of both for every 256: Q5_K.
  q4k,  // 4 bits; six-bit scale and minimum for every 32, f16 factors of both for every 256: Q4_K.
  q6k,  // int8; int8 scale for every 16, f16 factor for every 256: Q6_K, Q3_K.
};
[[nodiscard]] std::string_view to_string(WeightFormat format);
[[nodiscard]] WeightFormat weight_format(gguf::TensorType type);

// The layout of a matrix with `columns` columns on the GPU. Rows are filled up with zeros to whole
// lanes of 16.
struct WeightLayout {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t columns = 0;

  [[nodiscard]] std::uint32_t lanes() const { return (columns + 15) / 16; }
  [[nodiscard]] std::uint32_t quant_row_bytes() const;  // The result is a multiple of 8.
  [[nodiscard]] std::uint32_t scale_row_bytes() const;  // A multiple of 4; 0 for floats.
};

// Packs rows of a tensor of `type`, as they are in the file, into out_quants and out_scales. Each
// of these must have room for all rows in the layout {weight_format(type), columns}.
[[nodiscard]] Result<> pack_weights(gguf::TensorType type, std::uint32_t columns, ByteSpan rows,
                                    std::span<std::uint8_t> out_quants,
                                    std::span<std::uint8_t> out_scales);

// The format's WGSL: @group(0) bindings 0 (quants) and 1 (scales), and load16(row, lane) ->
// array<vec4f, 4>. It needs the constant LANES.
[[nodiscard]] std::string_view weights_wgsl(WeightFormat format);

}  // namespace weft::kernels
