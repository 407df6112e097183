#include "engine/onnx/gpu/matrix_plan.h"

#include <algorithm>

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// The longest side of the part of a tile that a subgroup computes.
constexpr std::int64_t side_max = 32;

// True if each result depends only on the input place with the same index, and places can be read
// in fours.
bool reads_fours(const Window& w) {
  return element_count(w.kernel) == 1 && w.input == w.output && element_count(w.input) % 4 == 0 &&
         std::ranges::all_of(w.strides, [](std::int64_t stride) { return stride == 1; }) &&
         std::ranges::all_of(w.pads_before, [](std::int64_t pad) { return pad == 0; });
}

}  // namespace

MatrixPlan::MatrixPlan(const ConvolutionPlan& convolution, const MatrixUnit& matrix_unit,
                       const ConvolutionTiles& cut)
    : plan(convolution),
      unit(matrix_unit),
      tiles(cut),
      taps(element_count(plan.window.kernel)),
      in_plane(element_count(plan.window.input)),
      out_plane(element_count(plan.window.output)),
      fours(reads_fours(plan.window)),
      part_rows(std::min(tiles.channels, side_max)),
      part_columns(std::min(tiles.places, side_max)),
      parts_across(tiles.places / part_columns),
      threads(unit.subgroup * tiles.slices * parts_across * (tiles.channels / part_rows)),
      together(fours ? 4 : 2),
      across(tiles.places / together),
      rows_at_once(std::max<std::int64_t>(1, threads / across)),
      pitch(tiles.places / 2 + 4),
      sum_pitch(tiles.places + 8) {
  const std::int64_t filled = divided_up(plan.channels_in, tiles.depth) * tiles.depth;
  if (tiles.depth % plan.channels_in == 0 && plan.channels_in % rows_at_once == 0)
    taps_of_step = tiles.depth / plan.channels_in;
  mixed = taps_of_step == 1 && plan.channels_in * 5 < filled * 4;
  channels = mixed || taps_of_step > 1 ? plan.channels_in : filled;
  steps = divided_up(taps * channels, tiles.depth);
}

bool MatrixPlan::fits() const {
  return threads <= unit.threads_max && words() * 4 <= unit.bytes_max && threads % across == 0 &&
         tiles.depth % rows_at_once == 0 && tiles.depth % (tiles.slices * unit.k) == 0 &&
         part_rows % unit.m == 0 && part_columns % unit.n == 0;
}

}  // namespace weft::onnx
