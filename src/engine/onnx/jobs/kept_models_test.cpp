// Tests that a model stays compiled for later jobs with the same bytes, within bounds and without
// the values that an earlier job left on the device.
#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"
#include "engine/onnx/jobs/model_executor.h"
#include "engine/onnx/jobs/test_job.h"

namespace weft::onnx {
namespace {

using gpu::null::Command;

class KeptModels : public testing::Test {
 protected:
  void SetUp() override {
    device = gpu::run(*instance, instance->create_device({})).value();
    executor = create_model_executor(*device, {});
  }
  // Runs a job of `items` items with small_model() and the first weight `weight`.
  void run(std::uint32_t items, float weight = 1) {
    Model model = test::small_model();
    model.initializers.at(0).second.mutable_values<float>()[0] = weight;
    const auto job = test::job_of(test::small_manifest(items, 1, model));
    const auto output =
        gpu::run(*instance, executor->run(job, {.range = {.first = 0, .count = items}}));
    ASSERT_TRUE(output.has_value()) << output.error().message;
  }

  std::unique_ptr<gpu::null::NullInstance> instance = gpu::null::create_instance();
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<exec::Executor> executor;
};

TEST_F(KeptModels, ServeLaterJobsWithTheSameBytes) {
  run(1);
  instance->forget_commands();
  run(3);
  EXPECT_EQ(instance->count(Command::Kind::create_pipeline), 0U);
  EXPECT_EQ(instance->count(Command::Kind::create_buffer), 0U);
  run(3, 2);
  EXPECT_GT(instance->count(Command::Kind::create_pipeline), 0U);
}

TEST_F(KeptModels, ForgetWhatAnEarlierJobLeft) {
  run(1);
  EXPECT_EQ(instance->count(Command::Kind::clear), 0U);
  run(2);
  EXPECT_GT(instance->count(Command::Kind::clear), 0U);
}

TEST_F(KeptModels, AreTheLastFew) {
  run(1);
  const std::uint64_t one = device->buffer_bytes();
  for (int i = 2; i < 8; ++i) run(1, static_cast<float>(i));
  EXPECT_EQ(device->buffer_bytes(), 4 * one);
}

TEST_F(KeptModels, GiveWayWhereTheyTakeMoreThanATaskMay) {
  run(1);
  const std::uint64_t one = device->buffer_bytes();
  constexpr std::uint64_t others = 1 << 20;
  const gpu::Buffer other = device->create_buffer({.size = others});
  exec::Bounds bounds;
  bounds.bytes_max = others + one + one / 2;
  executor = create_model_executor(*device, bounds);
  for (int i = 2; i < 8; ++i) run(1, static_cast<float>(i));
  EXPECT_LE(device->buffer_bytes(), others + 2 * one);
}

}  // namespace
}  // namespace weft::onnx
