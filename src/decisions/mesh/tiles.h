// The geometry of an image that is computed in tiles: rectangles that cover the output exactly, one
// for each worker, and the part of the input that each rectangle needs, halo included. A stack of
// convolutions and poolings is a list of windows. The input of an output range [b, e) of one window
// is [b * stride - padding, (e - 1) * stride - padding + dilation * (kernel - 1) + 1). This is
// computed through the list from the last window to the first (A. Araujo et al., Computing
// receptive fields of convolutional neural networks, Distill 2019). Positions outside of a layer's
// input are padding of this layer: see TileRange.
//
// So far only plans (partition.h) use tiles. Workers will compute them when image models are split
// over workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"

namespace weft::mesh {

struct Window {
  std::uint32_t kernel = 1;
  std::uint32_t stride = 1;
  std::uint32_t padding = 0;
  std::uint32_t dilation = 1;
};

// A range of rows or columns, from begin up to but not including end.
struct Extent {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

struct Rectangle {
  Extent rows;
  Extent columns;

  [[nodiscard]] std::uint64_t area() const { return std::uint64_t{rows.size()} * columns.size(); }
  friend bool operator==(const Rectangle&, const Rectangle&) = default;
};

// The size of one dimension after all windows; 0 if a window is larger than its input.
[[nodiscard]] std::uint32_t output_size(std::uint32_t input_size, std::span<const Window> windows);

// The extents of a tile in one dimension: [0] is its extent of the image, [i] its extent of the
// input of window i, and the last one the tile of the output itself. Window i over the extent [i]
// gives exactly the values of the extent [i + 1], if zeros are padded only at the edges of the
// whole layer (at 0, or at the end). Sizes are those of the whole layers.
struct TileRange {
  std::vector<Extent> extents;
  std::vector<std::uint32_t> sizes;
};
[[nodiscard]] TileRange tile_range(Extent output, std::uint32_t input_size,
                                   std::span<const Window> windows);

struct Tile {
  std::size_t worker = 0;  // Index of the worker's weight.
  Rectangle output;
  Rectangle input;  // The input with its halo, cut at the edges of the image.
};

struct Image {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
};

// Returns one tile for each weight that is above 0, with an area in proportion to the weight. The
// longer side of a piece is cut again and again. Fewer tiles are returned if the output has fewer
// elements than weights. The tiles cover the whole output without overlapping. Fails with
// invalid_argument for an output without elements, for no weight above 0, for a kernel, stride or
// dilation of 0, and for padding that is as large as its kernel.
[[nodiscard]] Result<std::vector<Tile>> tiles(const Image& input, std::span<const Window> windows,
                                              std::span<const double> weights);

}  // namespace weft::mesh
