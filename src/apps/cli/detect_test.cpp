// The boxes in a JPEG file are the detections that were published for the model.
#include <gtest/gtest.h>

#include <cmath>

#include <glaze/glaze.hpp>

#include "apps/cli/image.h"
#include "apps/cli/onnx_device.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/long_tests.h"
#include "common/base/test_data.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/vision/detection.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

struct ExpectedDetection {
  std::string label;
  std::int64_t class_id = 0;
  double score = 0;
  std::array<double, 4> box_in_image{};
};
struct ExpectedDetections {
  std::string rule;
  std::vector<ExpectedDetection> detections;
};

}  // namespace documents

namespace {

using namespace documents;

TEST(Detect, FindsTheBoxesThatArePublishedForYolo) {
  const auto path = test::find_data("data/models/yolov5n-bus.detections.json");
  if (!path) GTEST_SKIP() << test::missing_data("data/models/yolov5n-bus.detections.json");
  ExpectedDetections expected;
  ASSERT_FALSE(glz::read_json(expected, test::read_bytes(*path)));
  const auto picture = read_image(path->parent_path() / "images/bus.jpg");
  ASSERT_TRUE(picture.has_value()) << picture.error().message;
  auto graph = onnx::prepare(onnx::open_model_file(path->parent_path() / "yolov5n.onnx").value());
  const auto device = OnnxDevice::open(std::move(*graph), {.device = "cpu"}).value();

  const auto placed = onnx::fitted(*picture, 640, 640, onnx::Fit::letterbox);
  const auto outputs = device->run({onnx::tensor_of_picture(placed.picture, {})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  const auto found = onnx::detections_of(*outputs, 640, 640, placed.placement, {});

  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), expected.detections.size());
  for (std::size_t i = 0; i < found->size(); ++i) {
    const ExpectedDetection& wanted = expected.detections[i];
    EXPECT_EQ(onnx::class_label((*found)[i].class_id, 80), wanted.label);
    // The expected values come from other decoders and resizers, whose pixels differ by one level.
    EXPECT_NEAR((*found)[i].score, wanted.score, 0.005);
    for (std::size_t side = 0; side < 4; ++side)
      EXPECT_NEAR((*found)[i].box[side], wanted.box_in_image[side], 1.0);
  }
}

class Detectors : public testing::TestWithParam<const char*> {};

// Boxes agree within a pixel and scores within a hundredth if kernels store 16-bit floats between
// each other.
TEST_P(Detectors, FindTheSameBoxesWhereFloatsTakeTwoBytes) {
  if (!weft::test::long_tests()) GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  const auto path = test::find_data(std::string("data/models/") + GetParam());
  if (!path) GTEST_SKIP() << test::missing_data(std::string("data/models/") + GetParam());
  const auto picture = read_image(path->parent_path() / "images/bus.jpg");
  ASSERT_TRUE(picture.has_value()) << picture.error().message;
  std::vector<std::vector<onnx::Detection>> boxes;

  for (const char* storage : {"f32", "f16"}) {
    auto graph = onnx::prepare(onnx::open_model_file(*path).value());
    const auto device = OnnxDevice::open(std::move(*graph), {.storage = storage});
    ASSERT_TRUE(device.has_value()) << device.error().message;
    ASSERT_TRUE((*device)
                    ->look(onnx::detector_input((*device)->graph()).value(),
                           onnx::usual_convention((*device)->graph()))
                    .has_value());
    auto found = (*device)->see(*picture, {});
    ASSERT_TRUE(found.has_value()) << found.error().message;
    boxes.push_back(std::move(found->boxes));
  }

  ASSERT_FALSE(boxes[0].empty());
  ASSERT_EQ(boxes[0].size(), boxes[1].size());
  for (std::size_t i = 0; i < boxes[0].size(); ++i) {
    EXPECT_EQ(boxes[1][i].class_id, boxes[0][i].class_id);
    EXPECT_NEAR(boxes[1][i].score, boxes[0][i].score, 0.01);
    for (std::size_t side = 0; side < 4; ++side)
      EXPECT_NEAR(boxes[1][i].box[side], boxes[0][i].box[side], 1.0);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Detectors, testing::Values("yolov5n.onnx", "ultraface-rfb-320.onnx"));

TEST(OnnxDevice, RefusesAStorageThatThereIsNot) {
  const auto open = [](OnnxDevice::Options options) {
    return OnnxDevice::open(onnx::Graph(), options).error().message;
  };

  EXPECT_EQ(open({.storage = "f8"}), "--storage 'f8' is not f32 or f16.");
  EXPECT_EQ(open({.device = "cpu", .storage = "f16"}),
            "--storage f16 is for a GPU; the processor stores f32.");
}

TEST(Images, ComeBackFromPngFilesAndAreRefusedInOneSentence) {
  const ScratchFolder folder("weft-image");
  onnx::Picture picture{.width = 3, .height = 2, .pixels = {}};
  for (std::uint8_t i = 0; i < 18; ++i) picture.pixels.push_back(static_cast<std::uint8_t>(i * 14));
  const auto file = folder.path() / "p.png";

  ASSERT_TRUE(write_image(file, picture).has_value());

  EXPECT_EQ(read_image(file)->pixels, picture.pixels);
  std::string bytes = test::read_bytes(file);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::ofstream(folder.path() / "cut.png", std::ios::binary) << bytes.substr(0, length);
    const auto cut = read_image(folder.path() / "cut.png");
    if (!cut) {
      EXPECT_EQ(cut.error().code, ErrorCode::invalid_argument);
    }
  }
  std::ofstream(folder.path() / "cut.jpg", std::ios::binary) << "\xFF\xD8\xFF\xE0 not a picture";
  EXPECT_EQ(read_image(folder.path() / "cut.jpg").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::cli
