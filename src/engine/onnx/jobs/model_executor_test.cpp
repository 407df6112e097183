// Tests an onnx job on a GPU: the whole job and its parts give the same bytes, within the bounds.
#include "engine/onnx/jobs/model_executor.h"

#include <gtest/gtest.h>

#include "engine/gpu/native/instance.h"
#include "engine/onnx/jobs/test_job.h"

namespace weft::onnx {
namespace {

using test::job_of;
using test::replaced;
using test::small_manifest;

class ModelJobs : public testing::Test {
 protected:
  void SetUp() override {
    instance = gpu::native::create_instance();
    auto made = gpu::run(*instance, instance->create_device({.label = "onnx jobs"}));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    device = std::move(*made);
    executor = exec::create_gpu_executor(*device, {}, create_model_executor(*device, {}));
  }
  Result<exec::Output> run(const std::shared_ptr<const exec::Job>& job, manifest::Range range) {
    return gpu::run(*instance, executor->run(job, {.range = range}));
  }
  Result<> prepare(const std::string& text) {
    return gpu::run(*instance, executor->prepare(job_of(text)));
  }

  std::unique_ptr<gpu::PumpedInstance> instance;
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<exec::Executor> executor;
};

TEST_F(ModelJobs, GiveTheSameBytesWholeAndInParts) {
  const auto job = job_of(small_manifest(6, 4));
  const auto whole = run(job, {.first = 0, .count = 6});
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_GE(whole->dispatches, 6U);
  const std::vector<std::int32_t> best = {1, 1, 2, 0, 0, 0};
  EXPECT_TRUE(std::ranges::equal(whole->outputs.at(0), as_bytes(std::span(best))));
  std::vector<std::vector<ByteVector>> parts;
  for (std::uint32_t task = 0; task < 4; ++task) {
    auto part = run(job, manifest::task_range(job->manifest, task));
    ASSERT_TRUE(part.has_value()) << part.error().message;
    parts.push_back(std::move(part->outputs));
  }
  EXPECT_EQ(manifest::join(job->manifest, parts), whole->outputs);
}

TEST_F(ModelJobs, WhatIsNoModelIsRefusedWhenItIsPrepared) {
  EXPECT_TRUE(prepare(small_manifest(2)).has_value());
  std::string text = small_manifest(2);
  const std::size_t at = text.find("\"base64\":\"") + 10;
  text.replace(at, 8, "////////");
  const auto broken = prepare(text);
  ASSERT_FALSE(broken.has_value());
  EXPECT_TRUE(broken.error().message.ends_with("while reading the job's model"))
      << broken.error().message;
}

TEST_F(ModelJobs, ValuesKeepToTheBoundOfBytes) {
  const auto job = job_of(small_manifest(1, 1, test::wide_model()));
  exec::Bounds bounds;
  bounds.bytes_max = 8192;
  executor = create_model_executor(*device, bounds);
  const auto over = run(job, {.first = 0, .count = 1});
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(over.error().message.contains("The model's values take more than the"))
      << over.error().message;
}

TEST_F(ModelJobs, AWorkerWithoutModelsSaysSo) {
  executor = exec::create_gpu_executor(*device, {});
  const auto refused = run(job_of(small_manifest(1)), {.first = 0, .count = 1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "This worker runs no jobs of the kind \"onnx\"; workers with a GPU do.");
}

}  // namespace
}  // namespace weft::onnx
