// y[row][n] = x[row] . w[n] for a few rows, f32: a team of threads for each weight row, which is
// read once for `batch` rows.
//
// Group 0: weights (weights.h). Group 1: 0 x (read), 1 y, 2 bias (read; any buffer without one), 3
// BatchSize (uniform). x has x_pitch numbers a row (a multiple of 4; a lane's part beyond `columns`
// is not read), y has y_pitch.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

struct MatvecSpec {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t weight_rows = 0;
  std::uint32_t columns = 0;  // A multiple of 4.
  std::uint32_t x_pitch = 0;
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;  // Where the first weight row's result goes.
  std::uint32_t batch = 1;     // Rows that share a read of the weights.
  bool bias = false;           // Added, one for each weight row.
  bool accumulate = false;     // y += instead of y =.
};

[[nodiscard]] gpu::PipelineOptions matvec_pipeline(const MatvecSpec& spec, const Team& team,
                                                   std::uint32_t workgroup);
// For `rows` rows of x.
[[nodiscard]] gpu::Workgroups matvec_workgroups(const MatvecSpec& spec, const Team& team,
                                                std::uint32_t workgroup, std::uint32_t rows);

// The bind group layout of weights, the same for all kernels.
[[nodiscard]] gpu::GroupLayout weights_layout();

}  // namespace weft::kernels
