// The geometry of an image that is computed in tiles: rectangles that cover the output exactly, one
// for each worker, and the part of the input that each needs, halo included. A stack of
// convolutions and poolings is a list of windows; the input of an output range [b, e) of one window
// is [b * stride - padding, (e - 1) * stride - padding + dilation * (kernel - 1) + 1), followed
// through the list from the last to the first (A. Araujo et al., Computing receptive fields of
// convolutional neural networks, Distill 2019). What lies outside of the image is padding, of every
// layer on its own: see TileRange.
//
// Used by plans (partition.h) alone yet: tiles run when image models are split over workers.
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

// Rows or columns [begin, end).
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

// What one dimension has behind the windows; 0 where a window is larger than what it slides over.
[[nodiscard]] std::uint32_t output_size(std::uint32_t input_size, std::span<const Window> windows);

// What a tile holds of every layer's input in one dimension: [0] of the image, [i] of what window i
// slides over, and last the tile of the output itself. A tile that runs window i over its extent
// [i], padding with zeros only where that extent ends at the edge of the whole (begin 0, or the
// end), has exactly the extent [i + 1] of the whole's values. Sizes are of the whole.
struct TileRange {
  std::vector<Extent> extents;
  std::vector<std::uint32_t> sizes;
};
[[nodiscard]] TileRange tile_range(Extent output, std::uint32_t input_size,
                                   std::span<const Window> windows);

struct Tile {
  std::size_t worker = 0;  // Which of the weights.
  Rectangle output;
  Rectangle input;  // With its halo, cut at the edges of the image.
};

struct Image {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
};

// One tile for each weight that is above 0, as large as the weights say, by cutting the longer side
// again and again; fewer where there is hardly an element for each. The outputs cover the whole
// output without overlapping. invalid_argument: an output without elements, no weight above 0, a
// kernel, stride or dilation of 0, padding that is as large as its kernel.
[[nodiscard]] Result<std::vector<Tile>> tiles(const Image& input, std::span<const Window> windows,
                                              std::span<const double> weights);

}  // namespace weft::mesh
