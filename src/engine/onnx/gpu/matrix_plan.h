// The division of a convolution by subgroup matrices (convolution_matrices.h) between workgroups,
// subgroups and threads. Private to the folder.
#pragma once

#include "engine/onnx/gpu/convolution_matrices.h"

namespace weft::onnx {

[[nodiscard]] constexpr std::int64_t divided_up(std::int64_t count, std::int64_t by) {
  return (count + by - 1) / by;
}

// The division of the terms of a convolution, its places and its channels. Terms are in the order
// of taps, and channels inside a tap.
struct MatrixPlan {
  MatrixPlan(const ConvolutionPlan& convolution, const MatrixUnit& matrix_unit,
             const ConvolutionTiles& cut);

  // The elements (u32) of the memory of a workgroup: two inputs, or one sum.
  [[nodiscard]] std::int64_t words() const {
    return std::max(tiles.depth * pitch, tiles.slices * tiles.channels * sum_pitch);
  }
  // True if the workgroup fits the device and its threads divide the work evenly.
  [[nodiscard]] bool fits() const;
  [[nodiscard]] std::int64_t blocks() const {
    return divided_up(plan.channels_out, tiles.channels);
  }
  [[nodiscard]] std::int64_t tiles_of_plane() const { return divided_up(out_plane, tiles.places); }
  [[nodiscard]] std::int64_t groups() const { return plan.batch * blocks() * tiles_of_plane(); }

  const ConvolutionPlan& plan;
  const MatrixUnit& unit;
  const ConvolutionTiles& tiles;
  const std::int64_t taps, in_plane, out_plane;
  const bool fours;
  const std::int64_t part_rows, part_columns;  // Rows and columns that a subgroup computes.
  const std::int64_t parts_across;             // Parts beside each other in a tile.
  const std::int64_t threads;
  const std::int64_t together;      // Places that a thread copies together.
  const std::int64_t across;        // Threads that copy one term.
  const std::int64_t rows_at_once;  // Terms that the threads copy at once.
  const std::int64_t pitch;         // u32 from one term to the next, in the workgroup's memory.
  const std::int64_t sum_pitch;     // Sums from one channel to the next.
  // Either a step has several whole taps, or a tap has several steps (its channels are filled up to
  // a multiple of the depth), or, if that would copy too many zeros, taps begin anywhere in a step.
  std::int64_t taps_of_step = 1;
  bool mixed = false;         // Taps begin anywhere.
  std::int64_t channels = 0;  // Terms of a tap.
  std::int64_t steps = 0;     // Number of times that `depth` terms are copied.
};

}  // namespace weft::onnx
