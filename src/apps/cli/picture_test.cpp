// Tests of pictures of outputs: equal numbers give equal pictures, and data that cannot be drawn
// are reported.
#include "apps/cli/picture.h"

#include <gtest/gtest.h>

#include <limits>
#include <png.h>

namespace weft::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

struct Decoded {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  ByteVector rgb;
  [[nodiscard]] std::array<int, 3> at(std::size_t pixel) const {
    return {rgb[3 * pixel], rgb[3 * pixel + 1], rgb[3 * pixel + 2]};
  }
};

template <class T>
Decoded draw(const std::vector<T>& values, std::string_view type, const Shape& shape) {
  const auto png = picture_png(as_bytes(std::span<const T>(values)), type, shape);
  EXPECT_TRUE(png.has_value()) << png.error().message;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, png->data(), png->size()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  Decoded decoded{
      .width = image.width, .height = image.height, .rgb = ByteVector(PNG_IMAGE_SIZE(image))};
  EXPECT_NE(png_image_finish_read(&image, nullptr, decoded.rgb.data(), 0, nullptr), 0)
      << image.message;
  return decoded;
}

constexpr std::array<int, 3> black = {0, 0, 0};

TEST(Picture, HasARowForEachOfTheOuterDimension) {
  const Decoded picture = draw<std::uint32_t>({1, 2, 3, 4, 5, 6}, "u32", {2, 3});

  EXPECT_EQ(picture.width, 3U);
  EXPECT_EQ(picture.height, 2U);
}

TEST(Picture, ColoursByRankSoThatAnOutlierTakesNoContrast) {
  const Decoded plain = draw<std::int32_t>({-4, -3, -2, -1}, "i32", {1, 4});
  const Decoded outlier = draw<std::int32_t>({-4, -3, -2, 2'000'000'000}, "i32", {1, 4});

  EXPECT_EQ(plain.rgb, outlier.rgb);
  EXPECT_NE(plain.at(0), plain.at(1));
}

TEST(Picture, DrawsASharedMaximumAndNanBlack) {
  const Decoded counts = draw<std::uint32_t>({1, 2, 500, 500}, "u32", {2, 2});
  EXPECT_EQ(counts.at(2), black);
  EXPECT_EQ(counts.at(3), black);
  EXPECT_NE(counts.at(0), black);

  const Decoded floats = draw<float>(
      {1.5F, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 3},
      "f32", {2, 2});
  EXPECT_EQ(floats.at(1), black);
  EXPECT_NE(floats.at(2), black);
}

TEST(Picture, DrawsOneColourWhereAllValuesAreEqual) {
  const Decoded flat = draw<std::uint32_t>({7, 7, 7, 7}, "u32", {2, 2});

  EXPECT_EQ(flat.at(0), flat.at(3));
  EXPECT_NE(flat.at(0), black);
  EXPECT_EQ(draw<float>({std::numeric_limits<float>::quiet_NaN()}, "f32", {1, 1}).at(0), black);
}

TEST(Picture, IsTheSameBytesEveryTime) {
  std::vector<std::uint32_t> values(64 * 64);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761U >> 20U;
  const Shape shape = {64, 64};

  EXPECT_EQ(picture_png(as_bytes(std::span<const std::uint32_t>(values)), "u32", shape).value(),
            picture_png(as_bytes(std::span<const std::uint32_t>(values)), "u32", shape).value());
}

TEST(Picture, RefusesWhatIsNoPicture) {
  EXPECT_FALSE(is_picture("f16", Shape{2, 2}));
  EXPECT_FALSE(is_picture("u32", Shape{4}));
  EXPECT_FALSE(is_picture("u32", Shape{1, 2, 2}));
  EXPECT_FALSE(is_picture("u32", Shape{16385, 1}));
  EXPECT_FALSE(picture_png(ByteVector(12), "u32", Shape{2, 2}).has_value());
}

}  // namespace
}  // namespace weft::cli
