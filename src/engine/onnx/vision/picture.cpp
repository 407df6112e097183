#include "engine/onnx/vision/picture.h"

#include <algorithm>
#include <cmath>

namespace weft::onnx {
namespace {

std::uint8_t rounded(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

std::size_t pixel_at(const Picture& picture, std::int64_t x, std::int64_t y) {
  return static_cast<std::size_t>((y * picture.width + x) * 3);
}

}  // namespace

std::vector<PixelShares> pixel_shares(std::int64_t from, std::int64_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(step, 1.0);
  std::vector<PixelShares> out;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const auto first =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - reach + 0.5)));
    const auto last =
        std::min<std::int64_t>(from, static_cast<std::int64_t>(std::floor(centre + reach + 0.5)));
    PixelShares shares{.first = first, .weights = {}};
    double sum = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const double distance = std::abs((static_cast<double>(k) - centre + 0.5) / reach);
      shares.weights.push_back(std::max(0.0, 1 - distance));
      sum += shares.weights.back();
    }
    for (double& weight : shares.weights) weight /= sum;
    out.push_back(std::move(shares));
  }
  return out;
}

Picture resized(const Picture& picture, std::int64_t width, std::int64_t height) {
  Picture wide{.width = width, .height = picture.height, .pixels = {}};
  wide.pixels.resize(static_cast<std::size_t>(width * picture.height * 3));
  const auto columns = pixel_shares(picture.width, width);
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const PixelShares& shares = columns[static_cast<std::size_t>(x)];
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < shares.weights.size(); ++k)
          sum +=
              shares.weights[k] *
              picture.pixels[pixel_at(picture, shares.first + static_cast<std::int64_t>(k), y) + c];
        wide.pixels[pixel_at(wide, x, y) + c] = rounded(sum);
      }
    }
  Picture out{.width = width, .height = height, .pixels = {}};
  out.pixels.resize(static_cast<std::size_t>(width * height * 3));
  const auto rows = pixel_shares(picture.height, height);
  for (std::int64_t y = 0; y < height; ++y) {
    const PixelShares& shares = rows[static_cast<std::size_t>(y)];
    for (std::int64_t x = 0; x < width; ++x)
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < shares.weights.size(); ++k)
          sum += shares.weights[k] *
                 wide.pixels[pixel_at(wide, x, shares.first + static_cast<std::int64_t>(k)) + c];
        out.pixels[pixel_at(out, x, y) + c] = rounded(sum);
      }
  }
  return out;
}

Result<Fit> fit_from(std::string_view word) {
  if (word == "letterbox") return Fit::letterbox;
  if (word == "topleft") return Fit::top_left;
  if (word == "stretch") return Fit::stretch;
  return fail(ErrorCode::invalid_argument, "The fit '{}' is not letterbox, topleft or stretch.",
              word);
}

PlacedPart placed_part(std::int64_t picture_width, std::int64_t picture_height, std::int64_t width,
                       std::int64_t height, Fit fit) {
  const auto w = static_cast<double>(picture_width), h = static_cast<double>(picture_height);
  if (fit == Fit::stretch)
    return {.width = width,
            .height = height,
            .placement = {.left = 0,
                          .top = 0,
                          .scale_x = static_cast<double>(width) / w,
                          .scale_y = static_cast<double>(height) / h}};
  const double scale = std::min(static_cast<double>(width) / w, static_cast<double>(height) / h);
  const bool centred = fit == Fit::letterbox;
  const auto side = [&](double size) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(centred ? std::nearbyint(size * scale) : size * scale));
  };
  PlacedPart part{.width = side(w), .height = side(h), .placement = {}};
  part.left = centred ? (width - part.width) / 2 : 0;
  part.top = centred ? (height - part.height) / 2 : 0;
  part.placement = {.left = static_cast<double>(part.left),
                    .top = static_cast<double>(part.top),
                    .scale_x = scale,
                    .scale_y = scale};
  return part;
}

FittedPicture fitted(const Picture& picture, std::int64_t width, std::int64_t height, Fit fit) {
  const PlacedPart part = placed_part(picture.width, picture.height, width, height, fit);
  const Picture small = resized(picture, part.width, part.height);
  FittedPicture out{.picture = {.width = width, .height = height, .pixels = {}},
                    .placement = part.placement};
  out.picture.pixels.assign(static_cast<std::size_t>(width * height * 3), grey_around);
  for (std::int64_t y = 0; y < small.height; ++y)
    std::copy_n(small.pixels.begin() + static_cast<std::ptrdiff_t>(pixel_at(small, 0, y)),
                small.width * 3,
                out.picture.pixels.begin() +
                    static_cast<std::ptrdiff_t>(pixel_at(out.picture, part.left, part.top + y)));
  return out;
}

Tensor tensor_of_picture(const Picture& picture, const PixelScale& scale) {
  const auto plane = static_cast<std::size_t>(picture.width * picture.height);
  std::vector<float> values(plane * 3);
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t from = scale.blue_first ? 2 - c : c;
    for (std::size_t i = 0; i < plane; ++i)
      values[c * plane + i] =
          (static_cast<float>(picture.pixels[i * 3 + from]) - scale.mean) * scale.scale;
  }
  return Tensor::of<float>({1, 3, picture.height, picture.width}, values);
}

void draw_box(Picture& picture, const std::array<double, 4>& box,
              std::array<std::uint8_t, 3> colour, std::int64_t thickness) {
  const auto bound = [](double value, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(value, 0.0, static_cast<double>(size - 1)));
  };
  const std::int64_t x1 = bound(box[0], picture.width), y1 = bound(box[1], picture.height),
                     x2 = bound(box[2], picture.width), y2 = bound(box[3], picture.height);
  for (std::int64_t y = y1; y <= y2; ++y)
    for (std::int64_t x = x1; x <= x2; ++x) {
      const bool edge =
          x < x1 + thickness || x > x2 - thickness || y < y1 + thickness || y > y2 - thickness;
      if (edge)
        std::ranges::copy(
            colour, picture.pixels.begin() + static_cast<std::ptrdiff_t>(pixel_at(picture, x, y)));
    }
}

}  // namespace weft::onnx
