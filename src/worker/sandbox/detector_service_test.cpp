// A camera's model runs in a confined process: its boxes are those of the engine, a model that is
// too large or no detector is refused in one sentence, and the process lives on.
#include "worker/sandbox/detector_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"
#include "engine/onnx/write_model.h"
#include "worker/sandbox/sandboxed_detector.h"

namespace weft::worker {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t plenty = std::uint64_t{256} << 20;

// A detector of 6 pixels a row, whose output is its input: each row of a channel is a box.
ByteVector model_file(std::int64_t height = 2) {
  const auto value = [](std::string name, std::vector<std::int64_t> shape) {
    onnx::ValueInfo out{.name = std::move(name),
                        .type = onnx::ElementType::f32,
                        .shape = std::vector<onnx::Dimension>()};
    for (const std::int64_t size : shape) out.shape->push_back({.size = size, .symbol = {}});
    return out;
  };
  onnx::Model model;
  model.opset = 17;
  const std::vector<std::int64_t> rows{1, 3 * height, 6};
  model.initializers = {{"rows", onnx::Tensor::of<std::int64_t>({3}, rows)}};
  model.nodes = {{.name = "y",
                  .op = "Reshape",
                  .domain = {},
                  .inputs = {"x", "rows"},
                  .outputs = {"y"},
                  .attributes = {}}};
  model.inputs = {value("x", {1, 3, height, 6})};
  model.outputs = {value("y", rows)};
  return onnx::write_model(model).value();
}

std::unique_ptr<SandboxedDetector> start(bool gpu = false) {
  auto started =
      SandboxedDetector::start({.gpu = gpu, .program = WEFT_SANDBOX_CHILD, .arguments = {}});
  EXPECT_TRUE(started) << started.error().message;
  return started ? std::move(*started) : nullptr;
}

TEST(SandboxedDetector, FindsTheBoxesOfTheEngine) {
  const auto detector = start();
  ASSERT_NE(detector, nullptr);
  const auto facts = detector->open(model_file(), plenty);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->width, 6U);
  EXPECT_EQ(facts->height, 2U);
  EXPECT_FALSE(facts->gpu);

  // One row: centre (1, 1), size 1 x 1, a certain object of the only class.
  ByteVector levels(36, 0);
  std::ranges::fill(std::span(levels).subspan(6, 6), std::uint8_t{255});
  const auto boxes = detector->find(levels, {.left = 0.25, .top = 0, .scale_x = 0.5, .scale_y = 1});

  ASSERT_TRUE(boxes) << boxes.error().message;
  ASSERT_THAT(*boxes, SizeIs(1));
  EXPECT_EQ(boxes->front().score, 1);
  EXPECT_EQ(boxes->front().label, "class 0");
  EXPECT_EQ(boxes->front().sides, (std::array<double, 4>{0.5, 0.5, 2.5, 1.5}));
}

TEST(SandboxedDetector, FindsTheSameBoxesOnAGpu) {
  const auto on_gpu = start(true), on_processor = start();
  ASSERT_TRUE(on_gpu != nullptr && on_processor != nullptr);
  const auto facts = on_gpu->open(model_file(), plenty);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->gpu);
  EXPECT_NE(facts->device, "");
  ASSERT_TRUE(on_processor->open(model_file(), plenty));

  ByteVector levels(36);
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] = static_cast<std::uint8_t>(255 - (i * 37) % 90);
  const auto boxes = on_gpu->find(levels, {}), expected = on_processor->find(levels, {});

  ASSERT_TRUE(boxes) << boxes.error().message;
  ASSERT_TRUE(expected);
  ASSERT_EQ(boxes->size(), expected->size());
  ASSERT_GT(boxes->size(), 0U);
  for (std::size_t i = 0; i < boxes->size(); ++i) {
    EXPECT_NEAR((*boxes)[i].score, (*expected)[i].score, 1e-5);
    for (std::size_t side = 0; side < 4; ++side)
      EXPECT_NEAR((*boxes)[i].sides[side], (*expected)[i].sides[side], 1e-4);
  }
}

TEST(SandboxedDetector, RefusesInOneSentenceAndLivesOn) {
  const auto detector = start();
  ASSERT_NE(detector, nullptr);
  EXPECT_FALSE(detector->find(ByteVector(36), {})) << "no model is open";
  EXPECT_FALSE(detector->open(as_bytes("no model"), plenty));
  EXPECT_EQ(detector->open(model_file(), 300).error().message,
            "The model needs more than 0 MiB here.");
  EXPECT_EQ(detector->open(model_file(5000), plenty).error().message,
            "The model's input is too large.");

  ASSERT_TRUE(detector->open(model_file(), plenty));
  EXPECT_THAT(detector->find(ByteVector(35), {}).error().message, HasSubstr("35 bytes"));
  EXPECT_TRUE(detector->find(ByteVector(36), {}));
}

TEST(SandboxedDetector, ACallEndsWithItsProcess) {
  const auto detector = start();
  ASSERT_NE(detector, nullptr);
  detector->end();
  EXPECT_FALSE(detector->open(model_file(), plenty));
}

TEST(HeldBytes, CountFileWeightsOutputsAndFrames) {
  const ByteVector file = model_file();
  const auto graph = onnx::prepare(onnx::read_model(file).value()).value();
  std::uint64_t weights = 0;
  for (const onnx::Value& value : graph.values)
    if (value.constant) weights += value.constant->byte_count();
  EXPECT_EQ(held_bytes(1000, graph, {.width = 6, .height = 2}),
            1000 + 2 * weights + 4 * 36 + 3 * 36 + 4 * 36);
}

}  // namespace
}  // namespace weft::worker
