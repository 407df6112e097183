// Tests that boxes from candidates equal those from the whole outputs bit for bit, both if all
// candidates fit into the readback and if there are too many.
#include "engine/onnx/vision/gpu/gpu_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/vision/gpu/picture_detector.h"
#include "engine/onnx/vision/gpu/test_detector.h"

namespace weft::onnx {
namespace {

using test::detector_side;

Tensor random_input() {
  std::mt19937 random(11);
  const Shape shape{1, 3, detector_side, detector_side};
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values)
    value = static_cast<float>(random() >> 8) / static_cast<float>(1 << 24);
  return Tensor::of<float>(shape, values);
}

bool are_same(const std::vector<Detection>& a, const std::vector<Detection>& b) {
  return std::ranges::equal(a, b, [](const Detection& one, const Detection& other) {
    return one.class_id == other.class_id && one.score == other.score && one.box == other.box;
  });
}

void expect_same_as_whole_outputs(Graph graph) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  GpuModel model(*test::gpu_machine().device, std::move(graph), {});
  const auto detector = gpu::run(*test::gpu_machine().instance,
                                 GpuDetector::create(*test::gpu_machine().device, model));
  ASSERT_TRUE(detector.has_value()) << detector.error().message;
  const Tensor input = random_input();
  const auto outputs = test::run_now(model, {input});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  const Placement placement{.left = 3, .top = 5, .scale_x = 0.3, .scale_y = 0.7};
  std::size_t once = 0, twice = 0;

  for (const double score_min : {0.0, 0.97, 0.5, 0.9, 0.0, 2.0}) {
    const DetectionBounds bounds{.score_min = score_min};
    const auto expected = detections_of(*outputs, detector_side, detector_side, placement, bounds);
    const auto got = gpu::run(
        *test::gpu_machine().instance,
        (*detector)->detect({input}, {nullptr}, {.placement = placement, .bounds = bounds}));

    ASSERT_TRUE(expected.has_value() && got.has_value()) << got.error().message;
    EXPECT_TRUE(are_same(got->boxes, *expected)) << "over " << score_min;
    EXPECT_EQ(got->boxes.empty(), score_min > 1);
    once += got->submits == 1 ? 1 : 0;
    twice += got->submits == 2 ? 1 : 0;
  }
  // Thousands of rows are candidates with scores over 0 and over 0.5 (by class with corners), so
  // that the whole outputs are read back.
  EXPECT_GE(once, 3u);
  EXPECT_GE(twice, 2u);
  EXPECT_EQ(once + twice, 6u);
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(GpuDetector, FindsTheBoxesOfTheWholeOutput) {
  expect_same_as_whole_outputs(test::objectness_detector());
}

TEST(GpuDetector, FindsTheBoxesOfClassesAndCorners) {
  expect_same_as_whole_outputs(test::corner_detector());
}

TEST(GpuDetector, SaysThatAModelIsNotADetector) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {1, 3, 4, 4})};
  model.outputs = {test::float_value("y", {1, 3, 4, 4})};
  model.nodes = {test::model_node("Relu", {"x"}, "y")};
  GpuModel on_gpu(*test::gpu_machine().device, prepare(std::move(model)).value(), {});
  const auto detector = gpu::run(*test::gpu_machine().instance,
                                 GpuDetector::create(*test::gpu_machine().device, on_gpu));
  ASSERT_TRUE(detector.has_value()) << detector.error().message;

  const auto found = gpu::run(*test::gpu_machine().instance,
                              (*detector)->detect({test::numbers({1, 3, 4, 4})}, {nullptr}, {}));

  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::unsupported);
}

// A picture of the input's size is not changed by fitting, so the whole path can be compared with
// plain loops.
TEST(PictureDetector, FindsWhatPlainLoopsFindInAPicture) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  std::mt19937 random(5);
  const Graph graph = test::objectness_detector();
  GpuModel model(*test::gpu_machine().device, graph, {});
  const Convention convention = usual_convention(graph);
  const auto detector = gpu::run(*test::gpu_machine().instance,
                                 PictureDetector::create(*test::gpu_machine().device, model,
                                                         *detector_input(graph), convention));
  ASSERT_TRUE(detector.has_value()) << detector.error().message;

  for (int frame = 0; frame < 3; ++frame) {
    Picture picture{.width = detector_side, .height = detector_side, .pixels = {}};
    for (std::int64_t i = 0; i < 3 * detector_side * detector_side; ++i)
      picture.pixels.push_back(static_cast<std::uint8_t>(random()));
    const DetectionBounds bounds{.score_min = 0.8};
    const FittedPicture placed = fitted(picture, detector_side, detector_side, convention.fit);
    const Tensor input = tensor_of_picture(placed.picture, convention.scale);
    const auto outputs = test::run_now(model, {input});
    const auto expected =
        detections_of(*outputs, detector_side, detector_side, placed.placement, bounds);

    const auto got = gpu::run(*test::gpu_machine().instance, (*detector)->see(picture, bounds));

    ASSERT_TRUE(got.has_value()) << got.error().message;
    EXPECT_FALSE(got->boxes.empty());
    EXPECT_TRUE(are_same(got->boxes, *expected)) << "frame " << frame;
  }
}

}  // namespace
}  // namespace weft::onnx
