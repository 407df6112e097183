// Tests that boxes follow the published rules and are in pixels of the original picture.
#include "engine/onnx/vision/detection.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::onnx {
namespace {

Picture plain(std::int64_t width, std::int64_t height, std::uint8_t value) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 3), value)};
}
// Makes an output [1][rows][7]: centre, size, objectness and two classes.
Tensor two_class_rows(const std::vector<std::array<float, 7>>& rows) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return Tensor::of<float>({1, static_cast<std::int64_t>(rows.size()), 7}, values);
}

TEST(Detection, KeepsTheBestOfBoxesThatCoverEachOtherByClass) {
  const Tensor output = two_class_rows({{50, 50, 20, 20, 0.9f, 0.5f, 0.1f},
                                        {51, 50, 20, 20, 0.9f, 0.8f, 0.1f},
                                        {51, 50, 20, 20, 0.9f, 0.1f, 0.6f},
                                        {80, 80, 10, 10, 0.9f, 0.7f, 0.1f},
                                        {20, 20, 10, 10, 0.2f, 1.0f, 0.1f},
                                        {20, 20, 10, 10, 0.5f, 0.4f, 0.1f}});

  const auto found = detections_of({output}, 100, 100, {}, {});

  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 3u);
  EXPECT_NEAR((*found)[0].score, 0.72, 1e-6);
  EXPECT_EQ((*found)[0].class_id, 0);
  EXPECT_EQ((*found)[0].box, (std::array<double, 4>{41, 40, 61, 60}));
  EXPECT_NEAR((*found)[1].score, 0.63, 1e-6);
  EXPECT_EQ((*found)[2].class_id, 1);
}

TEST(Detection, GivesBoxesInPixelsOfThePictureAsItCame) {
  const Picture picture = plain(200, 100, 10);
  const FittedPicture placed = fitted(picture, 64, 64, Fit::letterbox);
  // A box of 32 x 16 pixels in the middle of the letterboxed picture covers 100 x 50 pixels of the
  // original.
  const Tensor output = two_class_rows({{32, 32, 32, 16, 1, 1, 0}});

  const auto found = detections_of({output}, 64, 64, placed.placement, {});

  ASSERT_TRUE(found.has_value() && found->size() == 1);
  for (const auto& [side, expected] : {std::pair(0, 50.0), {1, 25.0}, {2, 150.0}, {3, 75.0}})
    EXPECT_NEAR((*found)[0].box[static_cast<std::size_t>(side)], expected, 1e-9) << side;
}

TEST(Detection, ReadsClassesWithCorners) {
  const float scores[] = {0.1f, 0.9f, 0.95f, 0.05f}, boxes[] = {0.25f, 0.5f, 0.5f, 1, 0, 0, 1, 1};

  const auto found =
      detections_of({Tensor::of<float>({1, 2, 2}, scores), Tensor::of<float>({1, 2, 4}, boxes)},
                    320, 240, {}, {});

  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].class_id, 1);
  EXPECT_EQ((*found)[0].box, (std::array<double, 4>{80, 120, 160, 240}));
}

// If two boxes with equal scores cover each other, the box of the earlier row stays, in
// whatever order the candidates come.
TEST(Detection, TakesCandidatesInAnyOrder) {
  const Tensor output = two_class_rows({{50, 50, 20, 20, 0.5f, 0.5f, 0.1f},
                                        {51, 50, 20, 20, 0.5f, 0.5f, 0.5f},
                                        {52, 50, 20, 20, 0.5f, 0.5f, 0.1f}});
  std::vector<Candidate> candidates;
  for (const std::int64_t row : {2, 0, 1})
    candidates.push_back({.row = row,
                          .class_id = 0,
                          .object = 0.5f,
                          .score = 0.5f,
                          .box = {50.0f + static_cast<float>(row), 50, 20, 20}});
  const DetectionBounds bounds{.score_min = 0.2};

  const auto whole = detections_of({output}, 100, 100, {}, bounds);
  const auto chosen =
      detections_of(std::move(candidates), DetectorKind::objectness, 100, 100, {}, bounds);

  ASSERT_TRUE(whole.has_value() && whole->size() == 1);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].box, (*whole)[0].box);
  EXPECT_EQ(chosen[0].box, (std::array<double, 4>{40, 40, 60, 60}));
}

TEST(Detection, SaysThatAModelIsNotADetector) {
  const float values[] = {1, 2};

  const auto found = detections_of({Tensor::of<float>({1, 2}, values)}, 8, 8, {}, {});

  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::unsupported);
}

TEST(Picture, LetterboxCentresOnGrey) {
  const FittedPicture out = fitted(plain(100, 50, 200), 64, 64, Fit::letterbox);

  EXPECT_EQ(out.placement.left, 0);
  EXPECT_EQ(out.placement.top, 16);
  EXPECT_EQ(out.picture.pixels[0], 114);
  EXPECT_EQ(out.picture.pixels[(16 * 64 + 5) * 3], 200);
  EXPECT_EQ(out.picture.pixels[(48 * 64 + 5) * 3], 114);
}

TEST(Picture, ShrinkingGivesEveryPixelItsShare) {
  Picture stripes = plain(8, 1, 0);
  for (std::size_t x = 0; x < 8; x += 2)
    for (std::size_t c = 0; c < 3; ++c) stripes.pixels[x * 3 + c] = 240;

  const Picture half = resized(stripes, 2, 1);

  EXPECT_NEAR(half.pixels[0], 120, 16);
  EXPECT_NEAR(half.pixels[3], 120, 16);
  EXPECT_EQ(resized(stripes, 8, 1).pixels, stripes.pixels);
}

TEST(Picture, BecomesATensorOfPlanes) {
  Picture one = plain(1, 1, 0);
  one.pixels = {255, 0, 51};

  const Tensor rgb = tensor_of_picture(one, {});
  const Tensor bgr = tensor_of_picture(one, {.blue_first = true, .mean = 51, .scale = 0.5f});

  EXPECT_EQ(rgb.shape(), (Shape{1, 3, 1, 1}));
  EXPECT_FLOAT_EQ(static_cast<float>(rgb.number(0)), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(rgb.number(2)), 0.2f);
  EXPECT_EQ(bgr.number(0), 0);
  EXPECT_EQ(bgr.number(2), 102);
}

}  // namespace
}  // namespace weft::onnx
