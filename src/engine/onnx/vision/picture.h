// Pictures as models take them: fitted to a size, as a tensor of floats.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/onnx/tensor.h"

namespace weft::onnx {

// Rows from the top, three bytes a pixel: red, green, blue.
struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;
};

// Bilinear; where the result is smaller, every pixel of the picture has its share (a triangle
// filter as wide as the step).
[[nodiscard]] Picture resized(const Picture& picture, std::int64_t width, std::int64_t height);

// Which pixels make one pixel of a resized picture, along one side; the weights' sum is 1.
struct PixelShares {
  std::int64_t first = 0;
  std::vector<double> weights;
};
// One for each pixel of `to`, as resized() has them.
[[nodiscard]] std::vector<PixelShares> pixel_shares(std::int64_t from, std::int64_t to);

enum class Fit : std::uint8_t {
  letterbox,  // In proportion, centred on grey (114, 114, 114).
  top_left,   // In proportion, in the corner, on the same grey.
  stretch,    // To the whole size.
};
// "letterbox", "topleft" or "stretch"; else invalid_argument.
[[nodiscard]] Result<Fit> fit_from(std::string_view word);

// Where a picture lies in what it was fitted to: x' = x * scale_x + left.
struct Placement {
  double left = 0;
  double top = 0;
  double scale_x = 1;
  double scale_y = 1;
};
// The part of the fitted picture that the picture takes; grey is around it.
struct PlacedPart {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  Placement placement;
};
// What fitted() does, by numbers.
[[nodiscard]] PlacedPart placed_part(std::int64_t picture_width, std::int64_t picture_height,
                                     std::int64_t width, std::int64_t height, Fit fit);
inline constexpr std::uint8_t grey_around = 114;

struct FittedPicture {
  Picture picture;
  Placement placement;
};
// `picture` is not empty; width and height are positive.
[[nodiscard]] FittedPicture fitted(const Picture& picture, std::int64_t width, std::int64_t height,
                                   Fit fit);

struct PixelScale {
  bool blue_first = false;
  float mean = 0;
  float scale = 1.0f / 255;
};
// (pixel - mean) * scale, [1][3][height][width], f32.
[[nodiscard]] Tensor tensor_of_picture(const Picture& picture, const PixelScale& scale);

// A rectangle of lines `thickness` pixels wide, cut off at the picture's edges.
void draw_box(Picture& picture, const std::array<double, 4>& box,
              std::array<std::uint8_t, 3> colour, std::int64_t thickness);

}  // namespace weft::onnx
