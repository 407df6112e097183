// From a JPEG file to boxes: the same detections as those that were published for the model.
#include <gtest/gtest.h>

#include <cmath>

#include <glaze/glaze.hpp>

#include "apps/cli/image.h"
#include "apps/cli/onnx_device.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/test_data.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/vision/detection.h"

namespace weft::cli {
// glaze names types in clang only where they have linkage, so these stand in no unnamed namespace.
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
    // The picture was decoded and resized by other libraries: within a level of grey of ours.
    EXPECT_NEAR((*found)[i].score, wanted.score, 0.005);
    for (std::size_t side = 0; side < 4; ++side)
      EXPECT_NEAR((*found)[i].box[side], wanted.box_in_image[side], 1.0);
  }
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
