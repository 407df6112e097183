// y[row][n] = x[row] . w[n] for a few rows, in f32: a team of threads for each weight row, which is
// read once for `batch` rows.
//
// Bindings of group 0: weights (weights.h). Bindings of group 1: 0 x (read), 1 y, 2 bias (read; any
// buffer without one), 3 BatchSize (uniform). A row of x has x_pitch numbers (a multiple of 4; the
// part of a lane beyond `columns` is not read), a row of y has y_pitch.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

struct MatvecSpec {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t weight_rows = 0;
  std::uint32_t columns = 0;  // Must be a multiple of 4.
  std::uint32_t x_pitch = 0;
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;  // The place of the first weight row's result in a row of y.
  std::uint32_t batch = 1;     // Rows that share a read of the weights.
  bool bias = false;           // Adds a bias for each weight row.
  bool accumulate = false;     // Adds to y instead of writing it.
};

[[nodiscard]] gpu::PipelineOptions matvec_pipeline(const MatvecSpec& spec, const Team& team,
                                                   std::uint32_t workgroup);
// The workgroups for `rows` rows of x.
[[nodiscard]] gpu::Workgroups matvec_workgroups(const MatvecSpec& spec, const Team& team,
                                                std::uint32_t workgroup, std::uint32_t rows);

// Returns the bind group layout of weights, which is the same for all kernels.
[[nodiscard]] gpu::GroupLayout weights_layout();

}  // namespace weft::kernels
