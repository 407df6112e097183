// How the work of a convolution is cut for the threads of a GPU.
#pragma once

#include <cstdint>

namespace weft::onnx {

// A thread computes `places` places of `channels` output channels; `slices` threads of a workgroup
// share that, each with a part of the input channels, and add up what they have at the end.
struct ConvolutionTiles {
  std::int64_t places = 1;
  std::int64_t channels = 8;
  std::int64_t slices = 1;
  // Places are neighbours along a row, four and four; what they read is read four at a time, once
  // for all taps of a row. For shapes that can_be_in_rows() takes.
  bool rows = false;
  friend bool operator==(const ConvolutionTiles&, const ConvolutionTiles&) = default;
};
// `outputs` are the places of all images and groups; channels are those of one group. Depends on
// the node and its shape alone, so that a node gives the same bits in each graph.
[[nodiscard]] ConvolutionTiles convolution_tiles(std::int64_t outputs, std::int64_t channels_in,
                                                 std::int64_t channels_out);
// True if a kernel can be cut so: workgroups of 64 threads, 16 KiB of their memory.
[[nodiscard]] bool can_be_cut(const ConvolutionTiles& tiles);

}  // namespace weft::onnx
