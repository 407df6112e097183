// y[row][n] = x[row] . w[n] for many rows: the products of reading a prompt. (For few rows:
// matvec.h.)
//
// There are two kernels. With subgroup matrices, x and w become f16 when they are loaded into
// workgroup memory (x beyond the range of f16 becomes its largest number) and products are summed
// in f32. Without them, or if `exact` asks for it, everything is f32 in register tiles.
//
//   const MatmulTuning tuning = matmul_tuning(device, spec, {.rows = 512});
//   pipeline = matmul_pipeline(spec, tuning)     matmul_workgroups(spec, tuning, rows)
//   if tuning.splits > 1, y of this pipeline is a buffer of matmul_partial_bytes(), followed by
//   sum = matmul_sum_pipeline(spec, tuning)      matmul_sum_workgroups(spec, rows)
//
// Bindings of group 0: weights (weights.h). Bindings of group 1: 0 x (read), 1 y, 2 bias (read; any
// buffer without one), 3 BatchSize (uniform). Bindings of the sum's group 0: 0 partial sums (read),
// 1 y, 2 bias (read), 3 BatchSize. No row beyond BatchSize::rows is written, however many
// workgroups run.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/kernels/activation.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

enum class MatmulOutput : std::uint8_t {
  store,       // Writes y = x . w.
  accumulate,  // Adds to y: y += x . w.
  swiglu,      // y[n] = activation(x . w[n]) * (x . w[n + weight_rows / 2])
};

struct MatmulSpec {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t weight_rows = 0;  // Must be even for swiglu.
  std::uint32_t columns = 0;      // Must be a multiple of 32.
  std::uint32_t x_pitch = 0;      // A multiple of 4, or of 8 if x is f16.
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;  // The place of the first output in a row of y.
  MatmulOutput output = MatmulOutput::store;
  Activation activation = Activation::silu;  // Used only by MatmulOutput::swiglu.
  bool bias = false;                         // Adds a bias for each weight row; not for swiglu.
  // True if x or y is f16 in memory; only with subgroup matrices. f16 x needs no conversion and
  // half the reads; such rows are written by norm_halves.h, flash_attention.h and y_halves. f16 y
  // needs a pitch and an offset that are multiples of 4, and cannot be accumulated.
  bool x_halves = false;
  bool y_halves = false;

  [[nodiscard]] std::uint32_t outputs() const {
    return output == MatmulOutput::swiglu ? weight_rows / 2 : weight_rows;
  }
};

// The division of a product into tiles. The widths of tiles count weight rows, of which swiglu
// needs two for each output.
struct MatmulTuning {
  // The subgroup matrices (m x k times k x n); m is 0 for the f32 kernel, which uses only tile_rows
  // and splits.
  std::uint32_t matrix_m = 0, matrix_n = 0, matrix_k = 0;
  std::uint32_t subgroup_size = 0;
  std::uint32_t tile_rows = 64, tile_columns = 64;  // The size of a workgroup's tile.
  std::uint32_t tile_depth = 32;  // Columns of x and w in workgroup memory at a time.
  std::uint32_t subgroup_rows = 32, subgroup_columns = 32;  // The size of a subgroup's tile.
  std::uint32_t splits = 1;  // The number of partial sums of a product.
  // If true, the next step is loaded before the current step is multiplied. Drivers compile such a
  // loop to several times as much code, which costs short dispatches more than it saves.
  bool ahead = true;

  [[nodiscard]] std::uint32_t threads() const;
  [[nodiscard]] std::uint32_t workgroup_bytes() const;
};

struct MatmulWish {
  std::uint32_t rows = 512;  // The number of rows in a usual pass.
  bool exact = false;        // True if all arithmetic must be f32.
};
// The fastest known tuning for the shape within the device's limits.
[[nodiscard]] MatmulTuning matmul_tuning(const gpu::Device& device, const MatmulSpec& spec,
                                         const MatmulWish& wish);

// The tuning for passes of at least rows_min rows. matmul_same_bits() returns tunings for growing
// numbers of rows with which a row has the same bits whatever other rows are in the pass: their
// sums have the same parts in the same order, whatever the depth of a step is. They need subgroup
// matrices; the list is empty if the device or the shape does not allow them.
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
