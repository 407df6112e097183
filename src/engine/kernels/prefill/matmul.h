// y[row][n] = x[row] . w[n] for many rows: the products of reading a prompt. (Few rows: matvec.h.)
//
// Two kernels behind one description. With subgroup matrices x and w become f16 on their way into
// workgroup memory (x beyond f16's range becomes its largest number) and products are summed in
// f32; without them, or where `exact` asks for it, everything is f32 in register tiles.
//
//   const MatmulTuning tuning = matmul_tuning(device, spec, {.rows = 512});
//   pipeline = matmul_pipeline(spec, tuning)     matmul_workgroups(spec, tuning, rows)
//   with tuning.splits > 1: y of that is a buffer of matmul_partial_bytes(); then
//   sum = matmul_sum_pipeline(spec, tuning)      matmul_sum_workgroups(spec, rows)
//
// Group 0: weights (weights.h). Group 1: 0 x (read), 1 y, 2 bias (read; any buffer without one), 3
// BatchSize (uniform). The sum's group 0: 0 partial sums (read), 1 y, 2 bias (read), 3 BatchSize.
// Nothing is written beyond BatchSize::rows, however many workgroups run.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/kernels/activation.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

enum class MatmulOutput : std::uint8_t {
  store,       // y = x . w
  accumulate,  // y += x . w
  swiglu,      // y[n] = activation(x . w[n]) * (x . w[n + weight_rows / 2])
};

struct MatmulSpec {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t weight_rows = 0;  // Even for swiglu.
  std::uint32_t columns = 0;      // A multiple of 32.
  std::uint32_t x_pitch = 0;      // A multiple of 4; of 8 for x in f16.
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;  // Where the first output goes.
  MatmulOutput output = MatmulOutput::store;
  Activation activation = Activation::silu;  // For swiglu.
  bool bias = false;                         // Added, one for each weight row; not for swiglu.
  // f16 in memory, for subgroup matrices only: x, which spares its conversion and half the reading
  // (rows in f16 come from norm_halves.h, flash_attention.h and y_halves); y, with pitch and offset
  // in fours, and not to accumulate.
  bool x_halves = false;
  bool y_halves = false;

  [[nodiscard]] std::uint32_t outputs() const {
    return output == MatmulOutput::swiglu ? weight_rows / 2 : weight_rows;
  }
};

// How a product is cut up. The widths of tiles count weight rows, of which swiglu needs two an
// output.
struct MatmulTuning {
  // The subgroup matrices (m x k times k x n); m is 0 for the f32 kernel, which uses only tile_rows
  // and splits.
  std::uint32_t matrix_m = 0, matrix_n = 0, matrix_k = 0;
  std::uint32_t subgroup_size = 0;
  std::uint32_t tile_rows = 64, tile_columns = 64;  // The tile of a workgroup.
  std::uint32_t tile_depth = 32;  // Columns of x and w in workgroup memory at a time.
  std::uint32_t subgroup_rows = 32, subgroup_columns = 32;  // The tile of a subgroup.
  std::uint32_t splits = 1;  // Parts of x and w that are summed apart.
  // The next step is asked for before one is multiplied. Drivers make several times as much code of
  // such a loop, which costs short dispatches more than it saves.
  bool ahead = true;

  [[nodiscard]] std::uint32_t threads() const;
  [[nodiscard]] std::uint32_t workgroup_bytes() const;
};

struct MatmulWish {
  std::uint32_t rows = 512;  // In a usual pass.
  bool exact = false;        // f32 all through.
};
// What is fast for the shape, within the device's limits.
[[nodiscard]] MatmulTuning matmul_tuning(const gpu::Device& device, const MatmulSpec& spec,
                                         const MatmulWish& wish);

// For rows that have to come out with the same bits whatever other rows are in the pass: tilings
// for growing numbers of rows, with subgroup matrices, whose sums are of the same parts in the same
// order, whatever the depth of a step. Empty where the device or the shape has none.
struct MatmulFrom {
  std::uint32_t rows_min = 1;
  MatmulTuning tuning;
};
[[nodiscard]] std::vector<MatmulFrom> matmul_same_bits(const gpu::Device& device,
                                                       const MatmulSpec& spec,
                                                       std::uint32_t rows_max);

[[nodiscard]] gpu::PipelineOptions matmul_pipeline(const MatmulSpec& spec,
                                                   const MatmulTuning& tuning);
[[nodiscard]] gpu::Workgroups matmul_workgroups(const MatmulSpec& spec, const MatmulTuning& tuning,
                                                std::uint32_t rows);

[[nodiscard]] std::uint64_t matmul_partial_bytes(const MatmulSpec& spec, const MatmulTuning& tuning,
                                                 std::uint32_t rows_max);
[[nodiscard]] gpu::PipelineOptions matmul_sum_pipeline(const MatmulSpec& spec,
                                                       const MatmulTuning& tuning);
[[nodiscard]] gpu::Workgroups matmul_sum_workgroups(const MatmulSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
