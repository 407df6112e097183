// Tests the traffic of a frame: its pixels are uploaded once, a few kilobytes are read back, with
// one submit and one readback, and no objects are created.
#include <gtest/gtest.h>

#include <bit>

#include "engine/gpu/null/instance.h"
#include "engine/onnx/vision/gpu/picture_detector.h"
#include "engine/onnx/vision/gpu/test_detector.h"

namespace weft::onnx {
namespace {

using Kind = gpu::null::Command::Kind;

class DetectorTraffic : public testing::Test {
 protected:
  DetectorTraffic() {
    detector_ =
        gpu::run(*instance_, PictureDetector::create(*device_, model_,
                                                     detector_input(model_.graph()).value(), {}))
            .value();
  }
  Result<GpuDetector::Found> see() {
    const Picture picture{
        .width = 131, .height = 77, .pixels = std::vector<std::uint8_t>(131 * 77 * 3, 9)};
    return gpu::run(*instance_, detector_->see(picture, {}));
  }
  std::uint64_t bytes(Kind kind) const {
    std::uint64_t sum = 0;
    for (const gpu::null::Command& command : instance_->commands())
      if (command.kind == kind) sum += command.size;
    return sum;
  }

  std::unique_ptr<gpu::null::NullInstance> instance_ = gpu::null::create_instance();
  std::unique_ptr<gpu::Device> device_ = gpu::run(*instance_, instance_->create_device({})).value();
  GpuModel model_{*device_, test::objectness_detector(), {}};
  std::unique_ptr<PictureDetector> detector_;
};

constexpr std::uint64_t pixel_bytes = (131 * 77 * 3 + 3) / 4 * 4;
constexpr std::uint64_t candidate_bytes = 32 + 32 * CandidateKernel::candidates_max;
constexpr std::uint64_t output_bytes =
    std::uint64_t{test::detector_side} * test::detector_side * 12;

TEST_F(DetectorTraffic, IsThePixelsUpAndTheCandidatesDown) {
  ASSERT_TRUE(see().has_value());
  instance_->forget_commands();

  const auto found = see();

  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(instance_->count(Kind::submit), 1u);
  EXPECT_EQ(instance_->count(Kind::read), 1u);
  EXPECT_EQ(bytes(Kind::read), candidate_bytes);
  EXPECT_EQ(bytes(Kind::write), pixel_bytes);
  for (const Kind made : {Kind::create_buffer, Kind::create_bind_group, Kind::create_pipeline})
    EXPECT_EQ(instance_->count(made), 0u);
  EXPECT_EQ(instance_->count(Kind::dispatch), PictureDetector::dispatches + found->dispatches);
  EXPECT_EQ(found->submits, 1u);
  EXPECT_EQ(found->bytes_down, candidate_bytes);
  EXPECT_EQ(detector_->bytes_up(), pixel_bytes);
}

TEST_F(DetectorTraffic, OfTooManyCandidatesHasTheOutputToo) {
  ASSERT_TRUE(see().has_value());
  gpu::Handle counted = 0;
  for (const gpu::null::Command& command : instance_->commands())
    if (command.kind == Kind::create_buffer && command.label == "candidates")
      counted = command.object;
  ASSERT_NE(counted, 0u);
  instance_->on_dispatch([&](const gpu::null::Command&) {
    const std::uint32_t count = CandidateKernel::candidates_max + 1;
    instance_->poke(counted, 0, as_bytes(std::span(&count, 1)));
  });
  instance_->forget_commands();

  const auto found = see();

  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(instance_->count(Kind::submit), 2u);
  EXPECT_EQ(bytes(Kind::read), candidate_bytes + output_bytes);
  EXPECT_EQ(instance_->count(Kind::create_buffer), 0u);
  EXPECT_EQ(found->submits, 2u);
  EXPECT_EQ(found->bytes_down, candidate_bytes + output_bytes);
}

}  // namespace
}  // namespace weft::onnx
