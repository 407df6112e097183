// Describes how the work of a convolution is divided between the threads of a GPU.
#pragma once

#include <cstdint>

namespace weft::onnx {

// A thread computes `places` places of `channels` output channels. `slices` threads of a workgroup
// compute the same outputs, each from a part of the input channels, and add their sums at the end.
struct ConvolutionTiles {
  std::int64_t places = 1;
  std::int64_t channels = 8;
  std::int64_t slices = 1;
  // True if the places of a thread are neighbours along a row, in groups of four. The input is then
  // read four numbers at a time, once for all taps of a row. Only for shapes that can_be_in_rows()
  // accepts.
  bool rows = false;
  // If this is not 0, the convolution is a product of subgroup matrices (convolution_matrices.h). A
  // workgroup then computes `places` places of `channels` channels, and has `depth` terms of the
  // sums in its memory at a time; `slices` subgroups share the terms. Only for values stored in 16
  // bits.
  std::int64_t depth = 0;
  friend bool operator==(const ConvolutionTiles&, const ConvolutionTiles&) = default;
};
// Returns the tiles that are used without a measurement. `outputs` counts the places of all images
// and groups; the channels are those of one group. The result depends only on the node and its
// shape, so that a node gives the same bits in every graph.
[[nodiscard]] ConvolutionTiles convolution_tiles(std::int64_t outputs, std::int64_t channels_in,
                                                 std::int64_t channels_out);
// True if a kernel with these tiles fits into a workgroup: 64 threads and 16 KiB of workgroup
// memory. A kernel with subgroup matrices must also fit its device (can_be_in_matrices()).
[[nodiscard]] bool can_be_cut(const ConvolutionTiles& tiles);

}  // namespace weft::onnx
