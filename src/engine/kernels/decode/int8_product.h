// Rows of int8 activations times quantized weights, for the few rows of drawing tokens: y[row][n] =
// x[row] . w[n].
//
// Activations are rounded in blocks of 32, each with an f32 scale (as llama.cpp's Q8_1), and
// weights keep the precision of the file. Products are summed exactly in int32 over a lane of 16
// (dot4I8Packed), then in f32. The input is either a row of f32, which every workgroup norms (RMS
// norm) and rounds by itself, or rows that were rounded before (quantize_rows.h), or rows that were
// normed and rounded (norm_rows_pipeline in product_tile.h).
//
// Bindings of group 0: weights (weights.h). Bindings of group 1: 0 x (read): f32 rows of `columns`,
// or their quants; 1 (read): the norm's weight, or the scales; then
//   store, accumulate: 2 y (f32), 3 bias (read; any buffer without one), 4 BatchSize (uniform)
//   swiglu: 2 quants out, 3 scales out: rows of weight_rows / 2, activation(gate) * up; the
//   first half of the weights are gates.
// For Input::normed also 5 (read), the factor of each row's norm. Quants: int8, 16 in a vec4u.
// Scales: a vec2f for every 16 numbers, with their scale and the sum of their values.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/activation.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

// The bytes of the quants and of the scales of a row with `columns` numbers, a multiple of 32.
[[nodiscard]] constexpr std::uint64_t quantized_quant_bytes(std::uint32_t columns) {
  return columns;
}
[[nodiscard]] constexpr std::uint64_t quantized_scale_bytes(std::uint32_t columns) {
  return columns / 2;
}

struct Int8ProductSpec {
  enum class Input : std::uint8_t { norm, normed, quantized };
  enum class Output : std::uint8_t { store, accumulate, swiglu };

  WeightFormat format = WeightFormat::q8;  // Must be an integer format.
  std::uint32_t weight_rows = 0;
  std::uint32_t columns = 0;  // Must be a multiple of 32.
  Input input = Input::quantized;
  Output output = Output::store;
  Activation activation = Activation::silu;  // Used only by Output::swiglu.
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;
  bool bias = false;
  float epsilon = 0;        // The epsilon of the norm.
  std::uint32_t batch = 1;  // Rows that share a read of the weights.
  // Weight rows that a team computes at a time; for swiglu, half of them are gates and half are
  // ups.
  std::uint32_t rows_each = 1;
  std::uint32_t share = 1;  // Teams that share the columns of a weight row.
  std::uint32_t ahead = 4;  // Lanes of weights that a thread loads at a time.
};

// True if the kernel supports the format, the width and the workgroup on the device.
[[nodiscard]] bool int8_product_possible(const gpu::Device& device, const Int8ProductSpec& spec,
                                         const Team& team, std::uint32_t workgroup);
// `packed` is true if the device has the language feature packed_4x8_integer_dot_product.
[[nodiscard]] gpu::PipelineOptions int8_product_pipeline(const Int8ProductSpec& spec,
                                                         const Team& team, std::uint32_t workgroup,
                                                         bool packed);
[[nodiscard]] gpu::Workgroups int8_product_workgroups(const Int8ProductSpec& spec, const Team& team,
                                                      std::uint32_t workgroup, std::uint32_t rows);

}  // namespace weft::kernels
