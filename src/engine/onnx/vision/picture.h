// Turns pictures into the inputs of models: fitted to a size, as a tensor of floats.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/onnx/tensor.h"

namespace weft::onnx {

// A picture: rows from the top, with three bytes (red, green, blue) for each pixel.
struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;
};

// Resizes a picture with bilinear interpolation. If the result is smaller, every pixel of the
// picture contributes to it (a triangle filter as wide as the step).
[[nodiscard]] Picture resized(const Picture& picture, std::int64_t width, std::int64_t height);

// The pixels that make one pixel of a resized picture, along one side. The sum of their weights is
// 1.
struct PixelShares {
  std::int64_t first = 0;
  std::vector<double> weights;
};
// Returns the weights that resized() uses, one PixelShares for each of the `to` pixels of the
// result.
[[nodiscard]] std::vector<PixelShares> pixel_shares(std::int64_t from, std::int64_t to);

enum class Fit : std::uint8_t {
  letterbox,  // Keeps proportions, centred on grey (114, 114, 114).
  top_left,   // Keeps proportions, in the top left corner, on grey (114, 114, 114).
  stretch,    // The picture fills the whole size; its proportions change.
};
// Reads "letterbox", "topleft" or "stretch". Fails with invalid_argument for any other word.
[[nodiscard]] Result<Fit> fit_from(std::string_view word);

// The position and scale of a picture within its fitted picture: x' = x * scale_x + left.
struct Placement {
  double left = 0;
  double top = 0;
  double scale_x = 1;
  double scale_y = 1;
};
// The rectangle of the fitted picture that the original picture covers; the rest is grey.
struct PlacedPart {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  Placement placement;
};
// Returns the rectangle that fitted() fills, computed from the sizes alone.
[[nodiscard]] PlacedPart placed_part(std::int64_t picture_width, std::int64_t picture_height,
                                     std::int64_t width, std::int64_t height, Fit fit);
inline constexpr std::uint8_t grey_around = 114;

struct FittedPicture {
  Picture picture;
  Placement placement;
};
// Requires that `picture` is not empty and that width and height are positive.
[[nodiscard]] FittedPicture fitted(const Picture& picture, std::int64_t width, std::int64_t height,
                                   Fit fit);

struct PixelScale {
  bool blue_first = false;
  float mean = 0;
  float scale = 1.0f / 255;
};
// Returns (pixel - mean) * scale as an f32 tensor [1][3][height][width].
[[nodiscard]] Tensor tensor_of_picture(const Picture& picture, const PixelScale& scale);

// Draws a rectangle with lines `thickness` pixels wide, cut off at the picture's edges.
void draw_box(Picture& picture, const std::array<double, 4>& box,
              std::array<std::uint8_t, 3> colour, std::int64_t thickness);

}  // namespace weft::onnx
