// The calls that the executor makes, on a device that only records them: the number of
// compilations, the buffers that are freed, and the behaviour if memory runs out. The tests need no
// GPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/format.h"
#include "engine/exec/executor.h"
#include "engine/gpu/null/instance.h"

namespace weft::exec {
namespace {

using Kind = gpu::null::Command::Kind;

std::shared_ptr<const Job> rows_job(std::string_view tune = "", double constant = 1) {
  auto manifest = manifest::parse(weft::format(R"({{{}"weft":1,"kind":"wgsl","name":"t",
"shader":{{"inline":"override c: u32; override wg: u32 = 1; @compute @workgroup_size(wg) fn main() {{}}"}},"entry":"main","constants":{{"c":{}}},"dispatch":[8],
"bindings":[{{"binding":0,"role":"output","type":"u32","shape":[64],"split_dim":0}},{{"binding":1,"role":"input","type":"u32","shape":[2],"value":[1,2]}}],
"split":{{"axis":"x","tasks":4}}}})",
                                               tune, constant));
  EXPECT_TRUE(manifest.has_value()) << manifest.error().message;
  auto job = std::make_shared<Job>();
  job->manifest = std::move(*manifest);
  job->shader = std::get<std::string>(job->manifest.shader);
  job->data = {{}, ByteVector(8)};
  return job;
}

class OnNullDevice : public testing::Test {
 protected:
  Result<Output> run(const std::shared_ptr<const Job>& job, std::uint32_t task,
                     std::uint32_t piece = 0) {
    return gpu::run(*instance,
                    executor->run(job, {.range = manifest::task_range(job->manifest, task),
                                        .piece_workgroups_max = piece}));
  }

  std::unique_ptr<gpu::null::NullInstance> instance = gpu::null::create_instance();
  std::unique_ptr<gpu::Device> device = gpu::run(*instance, instance->create_device({})).value();
  std::unique_ptr<Executor> executor = create_gpu_executor(*device, {});
};

TEST_F(OnNullDevice, CompilesOnceForAllTasksOfAJob) {
  const auto job = rows_job();
  ASSERT_TRUE(gpu::run(*instance, executor->prepare(job)).has_value());

  for (std::uint32_t task = 0; task < 4; ++task) ASSERT_TRUE(run(job, task).has_value());

  EXPECT_EQ(instance->count(Kind::create_pipeline), 1U);
  EXPECT_EQ(instance->count(Kind::dispatch), 4U);
  EXPECT_EQ(instance->count(Kind::submit), 4U);
}

TEST_F(OnNullDevice, KeepsThePipelinesOfTheLastJobsOnly) {
  for (int constant = 1; constant <= 9; ++constant)
    ASSERT_TRUE(run(rows_job("", constant), 0).has_value());
  ASSERT_EQ(instance->count(Kind::create_pipeline), 9U);

  ASSERT_TRUE(run(rows_job("", 9), 0).has_value());
  EXPECT_EQ(instance->count(Kind::create_pipeline), 9U);  // The latest job is in the cache.
  ASSERT_TRUE(run(rows_job("", 1), 0).has_value());
  EXPECT_EQ(instance->count(Kind::create_pipeline), 10U);  // The oldest job was evicted.
}

TEST_F(OnNullDevice, SubmitsEachPieceByItselfOverOneSetOfBuffers) {
  const auto job = rows_job();
  ASSERT_TRUE(run(job, 0).has_value());
  const std::size_t buffers = instance->count(Kind::create_buffer);
  instance->forget_commands();

  ASSERT_TRUE(run(job, 0, 1).has_value());

  EXPECT_EQ(instance->count(Kind::submit), 2U);
  EXPECT_EQ(instance->count(Kind::create_buffer), buffers);
  // Only the buffer of the second piece needs a clear, because new buffers are zero.
  EXPECT_EQ(instance->count(Kind::clear), 1U);
}

TEST_F(OnNullDevice, MeasuresTunedOverridesOnce) {
  const auto job = rows_job(R"("tune":{"wg":[1,2,4]},)");
  ASSERT_TRUE(run(job, 0).has_value());
  ASSERT_EQ(instance->count(Kind::create_pipeline), 3U);
  instance->forget_commands();

  ASSERT_TRUE(run(job, 1).has_value());

  EXPECT_EQ(instance->count(Kind::create_pipeline), 0U);
  EXPECT_EQ(instance->count(Kind::dispatch), 1U);
}

TEST_F(OnNullDevice, SaysThatMemoryIsOutAndLeavesNothing) {
  instance->failures().buffer_bytes_max = 100;

  const auto refused = run(rows_job(), 0);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(device->buffer_bytes(), 0U);
  instance->failures().buffer_bytes_max = ~0ULL;
  EXPECT_TRUE(run(rows_job(), 0).has_value());
}

TEST_F(OnNullDevice, PassesOnAnInvalidSubmit) {
  const auto job = rows_job();
  ASSERT_TRUE(gpu::run(*instance, executor->prepare(job)).has_value());
  instance->failures().submit_error = "the dispatch is wrong";

  const auto refused = run(job, 0);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(device->buffer_bytes(), 0U);
}

TEST_F(OnNullDevice, EndsWithDeviceLostWhenTheDeviceGoesWhileItWaits) {
  instance->hold();
  std::optional<Result<Output>> result;
  start<Result<Output>>(executor->run(rows_job(), {.range = {.first = 0, .count = 2}}),
                        [&](Result<Output> value) { result = std::move(value); });

  instance->lose("unplugged");
  instance->release();
  for (int polls = 0; polls < 100 && !result; ++polls) instance->poll(std::chrono::nanoseconds(0));

  ASSERT_TRUE(result.has_value());
  ASSERT_FALSE(result->has_value());
  EXPECT_EQ(result->error().code, ErrorCode::device_lost);
  EXPECT_EQ(device->buffer_bytes(), 0U);
}

TEST_F(OnNullDevice, RunsTwoTasksSideBySide) {
  // Error scopes are a stack of the whole device, so an error of one run could be reported to the
  // other run.
  const auto job = rows_job();
  ASSERT_TRUE(gpu::run(*instance, executor->prepare(job)).has_value());
  std::vector<Result<Output>> results;
  for (std::uint32_t task = 0; task < 2; ++task) {
    if (task == 1) instance->failures().submit_error = "the second is wrong";
    start<Result<Output>>(executor->run(job, {.range = manifest::task_range(job->manifest, task)}),
                          [&](Result<Output> value) { results.push_back(std::move(value)); });
  }
  for (int polls = 0; polls < 100 && results.size() < 2; ++polls)
    instance->poll(std::chrono::nanoseconds(0));

  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(std::ranges::count_if(results, [](const auto& result) { return result.has_value(); }),
            1);
}

}  // namespace
}  // namespace weft::exec
