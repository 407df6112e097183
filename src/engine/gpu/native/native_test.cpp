// The gpu layer on the device of this machine (lavapipe without a GPU): the checks that also run in
// the browser, then the features that only Dawn has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include <sys/stat.h>

#include "common/base/format.h"
#include "engine/gpu/conformance/conformance.h"
#include "engine/gpu/native/dawn_backend.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/report.h"
#include "engine/gpu/staging.h"

namespace weft::gpu {
namespace {

// Keeps the drivers loaded while tests create instances of their own; see create_instance().
class KeepDrivers : public testing::Environment {
 public:
  void SetUp() override { (void)run(*instance_, instance_->adapters()); }

 private:
  std::unique_ptr<PumpedInstance> instance_ = native::create_instance();
};
const auto* const keep_drivers = testing::AddGlobalTestEnvironment(new KeepDrivers);

class Conformance : public testing::TestWithParam<conformance::Check> {};

TEST_P(Conformance, Holds) {
  const auto instance = native::create_instance();

  const Result<> result = run(*instance, GetParam().run(*instance));

  if (!result && result.error().code == ErrorCode::unsupported)
    GTEST_SKIP() << result.error().message;
  EXPECT_TRUE(result.has_value()) << result.error().message;
}

const auto name_of = [](const testing::TestParamInfo<conformance::Check>& info) {
  return std::string(info.param.name);
};
INSTANTIATE_TEST_SUITE_P(Computes, Conformance,
                         testing::ValuesIn(conformance::compute_checks().begin(),
                                           conformance::compute_checks().end()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Fails, Conformance,
                         testing::ValuesIn(conformance::error_checks().begin(),
                                           conformance::error_checks().end()),
                         name_of);

constexpr std::string_view double_it = R"(
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { values[id.x] *= 2; }
)";
const PipelineOptions doubling = {.wgsl = std::string(double_it),
                                  .groups = {{{0, BindingKind::storage}}}};

TEST(Native, ADeviceForTrustedShadersComputesAndStillReportsCompileErrors) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({.trusted_shaders = true})).value();

  EXPECT_TRUE(run(*instance, device->create_pipeline(doubling)).has_value());
  const auto broken = run(
      *instance, device->create_pipeline(
                     {.wgsl = "@compute @workgroup_size(1)\nfn main() {\n  let q: i32 = 1.5;\n}"}));
  ASSERT_FALSE(broken.has_value());
  EXPECT_TRUE(broken.error().message.starts_with("3:16: ")) << broken.error().message;
  const auto no_entry =
      run(*instance, device->create_pipeline({.wgsl = std::string(double_it), .entry = "other"}));
  ASSERT_FALSE(no_entry.has_value());
  EXPECT_EQ(no_entry.error().code, ErrorCode::invalid_argument);
}

// Tests a device that the driver loses while operations are under way. ForceLoss() comes closest to
// such a loss; destroy() is the owner's own request.
TEST(Native, ALossWithWorkUnderWayEndsItAndTheProcessGoesOn) {
  const auto instance = native::create_instance();
  auto device = run(*instance, instance->create_device({})).value();
  const Pipeline pipeline = run(*instance, device->create_pipeline(doubling)).value();
  const Buffer buffer = device->create_buffer(
      {.size = 1 << 20, .usage = BufferUsage::storage | BufferUsage::copy_source});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  std::string told;
  device->on_lost([&](std::string reason) { told = std::move(reason); });
  Encoder encoder = device->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    for (int i = 0; i < 1000; ++i) pass.run(pipeline, {&group}, {4096});
  }
  device->submit(std::move(encoder));
  std::optional<Result<>> idle;
  start<Result<>>(device->idle(), [&](Result<> result) { idle = std::move(result); });

  static_cast<native::DawnBackend&>(device->backend())
      .device()
      .ForceLoss(wgpu::DeviceLostReason::Unknown, "pulled out");
  for (int i = 0; i < 1000 && !(idle && !told.empty()); ++i)
    instance->poll(std::chrono::milliseconds(100));

  ASSERT_TRUE(idle.has_value());
  EXPECT_EQ(idle->error().code, ErrorCode::device_lost);
  EXPECT_NE(told.find("pulled out"), std::string::npos) << told;
  const auto next = run(*instance, instance->create_device({})).value();
  EXPECT_TRUE(run(*instance, next->create_pipeline(doubling)).has_value());
}

TEST(Native, CompiledPipelinesComeFromTheCacheDirectoryInTheNextRun) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "weft_native_cache_test";
  std::filesystem::remove_all(directory);
  // The inode of each file: a blob that is stored again is a new file of the same name, and a blob
  // that is only loaded stays the same file.
  const auto files = [&] {
    std::map<std::string, ino_t> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      struct stat status{};
      ::stat(entry.path().c_str(), &status);
      found[entry.path().filename()] = status.st_ino;
    }
    return found;
  };
  const auto compile = [&] {
    const auto instance = native::create_instance();
    const auto device =
        run(*instance, instance->create_device({.cache_directory = directory})).value();
    ASSERT_TRUE(run(*instance, device->create_pipeline(doubling)).has_value());
  };

  compile();
  const auto first = files();
  compile();

  EXPECT_FALSE(first.empty());
  EXPECT_EQ(files(), first);
  std::filesystem::remove_all(directory);
}

// Tests that WGSL accepts a matrix size that the adapter names. Adapters name the sizes of their
// tensor cores, and lavapipe those of its register tiles.
TEST(Native, MultipliesSubgroupMatricesOfASizeThatTheAdapterNames) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({.trusted_shaders = true})).value();
  const auto& sizes = device->adapter().subgroup_matrices;
  const auto size = std::ranges::find_if(sizes, [](const SubgroupMatrix& each) {
    return each.component == "f16" && each.result == "f32";
  });
  if (!device->has("chromium-experimental-subgroup-matrix") || size == sizes.end())
    GTEST_SKIP() << "no f16 subgroup matrices";
  const std::string shader =
      weft::format(R"(enable f16; enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read> b: array<f16>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size({3}) fn main() {{
  let left = subgroupMatrixLoad<subgroup_matrix_left<f16, {2}, {0}>>(&a, 0u, false, {2}u);
  let right = subgroupMatrixLoad<subgroup_matrix_right<f16, {1}, {2}>>(&b, 0u, true, {2}u);
  let sum = subgroupMatrixMultiplyAccumulate(left, right, subgroup_matrix_result<f32, {1}, {0}>());
  subgroupMatrixStore(&c, 0u, sum, false, {1}u);
}})",
                   size->m, size->n, size->k, device->adapter().subgroup_size_max);
  const auto pipeline =
      run(*instance, device->create_pipeline({.wgsl = shader,
                                              .groups = {{{0, BindingKind::storage_read},
                                                          {1, BindingKind::storage_read},
                                                          {2, BindingKind::storage}}}}));
  ASSERT_TRUE(pipeline.has_value()) << pipeline.error().message;
  constexpr auto usage =
      BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination;
  const Buffer a =
      device->create_buffer({.size = std::uint64_t{2} * size->m * size->k, .usage = usage});
  const Buffer b =
      device->create_buffer({.size = std::uint64_t{2} * size->n * size->k, .usage = usage});
  const Buffer c =
      device->create_buffer({.size = std::uint64_t{4} * size->m * size->n, .usage = usage});
  const Buffer staging = device->create_buffer(
      {.size = c.size(), .usage = BufferUsage::map_read | BufferUsage::copy_destination});
  device->write(a, 0,
                as_bytes(std::span<const std::uint16_t>(
                    // 0x3c00 is 1 in f16.
                    std::vector<std::uint16_t>(std::size_t{size->m} * size->k, 0x3c00))));
  device->write(b, 0,
                as_bytes(std::span<const std::uint16_t>(
                    // 0x4000 is 2 in f16.
                    std::vector<std::uint16_t>(std::size_t{size->n} * size->k, 0x4000))));
  const BindGroup group = device->create_bind_group(*pipeline, 0, {{0, a}, {1, b}, {2, c}});

  Encoder encoder = device->create_encoder();
  encoder.begin_pass().run(*pipeline, {&group}, {1});
  encoder.copy(c, 0, staging, 0, c.size());
  device->submit(std::move(encoder));
  std::vector<float> sums(std::size_t{size->m} * size->n);
  ASSERT_TRUE(run(*instance, device->read(staging, 0,
                                          {reinterpret_cast<std::uint8_t*>(sums.data()), c.size()}))
                  .has_value());

  for (const float sum : sums) ASSERT_EQ(sum, 2.0F * static_cast<float>(size->k));
}

TEST(Native, UploadsOfManyFramesGoThroughTwoBuffersThatAreKept) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();
  constexpr std::size_t size = (3 << 20) + 2;  // The size is no multiple of four.
  const Buffer buffer = device->create_buffer(
      {.size = size + 2, .usage = BufferUsage::copy_source | BufferUsage::copy_destination});
  const Buffer back = device->create_buffer(
      {.size = size + 2, .usage = BufferUsage::map_read | BufferUsage::copy_destination});
  UploadRing ring(*device, {.slot_bytes = size});
  const std::uint64_t bytes_before = device->buffer_bytes();
  ASSERT_EQ(ring.free_slots(), 2u);

  for (int frame = 0; frame < 6; ++frame) {
    ByteVector bytes(size, static_cast<std::uint8_t>(frame + 1));
    bytes.back() = 77;
    Encoder encoder = device->create_encoder();
    ring.write(encoder, buffer, bytes);
    EXPECT_LE(ring.free_slots(), 1u) << "frame " << frame << " was written in another way";
    encoder.copy(buffer, 0, back, 0, size + 2);
    device->submit(std::move(encoder));
    ring.submitted();
    ByteVector got(size + 2);
    ASSERT_TRUE(run(*instance, device->read(back, 0, got)).has_value());

    EXPECT_EQ(got[size], 0);
    EXPECT_EQ(got[size + 1], 0);
    got.resize(size);
    EXPECT_EQ(got, bytes) << "frame " << frame;
  }
  EXPECT_EQ(device->buffer_bytes(), bytes_before);
  EXPECT_TRUE(device->uncaptured_errors().empty());
}

// A third frame comes before the copy of the first: no slot is free, and the bytes still arrive.
TEST(Native, AnUploadWithoutAFreeBufferArrives) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();
  const Buffer back = device->create_buffer(
      {.size = 8, .usage = BufferUsage::map_read | BufferUsage::copy_destination});
  UploadRing ring(*device, {.slot_bytes = 4});
  const ByteVector one = {1, 1, 1, 1}, two = {2, 2, 2, 2}, large = {3, 3, 3, 3, 4, 4, 4, 4};

  Encoder encoder = device->create_encoder();
  ring.write(encoder, back, one);
  ring.write(encoder, back, two);
  EXPECT_EQ(ring.free_slots(), 0u);
  device->submit(std::move(encoder));
  Encoder next = device->create_encoder();
  ring.write(next, back, large);
  device->submit(std::move(next));
  ring.submitted();
  ByteVector got(8);
  ASSERT_TRUE(run(*instance, device->read(back, 0, got)).has_value());

  EXPECT_EQ(got, large);
  EXPECT_TRUE(device->uncaptured_errors().empty());
}

TEST(Native, RunningOutOfGpuMemoryIsAnErrorAndNoLoss) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();
  if (device->adapter().kind != AdapterKind::discrete)
    GTEST_SKIP() << "only a GPU with memory of its own has a bound that may be met";
  std::vector<Buffer> buffers;
  device->push_error_scope(Device::ErrorFilter::out_of_memory);
  // The buffers have 2 TiB in all.
  for (int i = 0; i < 1024; ++i)
    buffers.push_back(
        device->create_buffer({.size = std::uint64_t{2} << 30, .usage = BufferUsage::storage}));

  const Result<> result = run(*instance, device->pop_error_scope());
  buffers.clear();

  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::out_of_memory);
  EXPECT_TRUE(run(*instance, device->create_pipeline(doubling)).has_value());
  EXPECT_FALSE(device->lost().has_value());
}

TEST(Native, AReportHoldsRatesThatWereMeasured) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();

  const auto report = run(*instance, measure(*device));

  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_GT(report->copy_bytes_per_second, 0);
  EXPECT_GT(report->f32_operations_per_second, 0);
  EXPECT_EQ(report->int8_operations_per_second.has_value(),
            device->has("packed_4x8_integer_dot_product"));
  EXPECT_TRUE(device->uncaptured_errors().empty());
}

TEST(Native, ADeviceMayOutliveItsInstance) {
  auto instance = native::create_instance();
  auto device = run(*instance, instance->create_device({})).value();
  bool told = false;
  device->on_lost([&](const std::string&) { told = true; });

  instance.reset();
  const Buffer buffer = device->create_buffer({.size = 16});
  device->destroy();

  EXPECT_TRUE(device->lost().has_value());
  EXPECT_FALSE(told) << "the instance is not polled any more";
}

TEST(Native, ANumberBeyondTheAdaptersIsNotFound) {
  const auto instance = native::create_instance();

  const auto refused = run(*instance, instance->create_device({}, 99));

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
}

// Dawn can wait for several devices at once only without a timeout, so that the loop must wait for
// them in turn.
TEST(Native, TwoDevicesOfOneInstanceWaitSideBySide) {
  const auto instance = native::create_instance();
  const auto a = run(*instance, instance->create_device({})).value();
  const auto b = run(*instance, instance->create_device({})).value();
  const Pipeline on_a = run(*instance, a->create_pipeline(doubling)).value();
  const Buffer buffer = a->create_buffer({.size = 1 << 22, .usage = BufferUsage::storage});
  const BindGroup group = a->create_bind_group(on_a, 0, {{0, buffer}});
  Encoder encoder = a->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    for (int i = 0; i < 20; ++i) pass.run(on_a, {&group}, {16384});
  }
  a->submit(std::move(encoder));
  std::vector<int> ended;
  start<Result<>>(a->idle(), [&](const Result<>&) { ended.push_back(1); });
  start<Result<>>(b->idle(), [&](const Result<>&) { ended.push_back(2); });
  start<Result<Pipeline>>(b->create_pipeline(doubling),
                          [&](const Result<Pipeline>&) { ended.push_back(3); });

  for (int i = 0; i < 1000 && ended.size() < 3; ++i) instance->poll(std::chrono::milliseconds(100));

  EXPECT_THAT(ended, testing::UnorderedElementsAre(1, 2, 3));
}

// A queue and a compiler are two sources, too: if the loop waited for both with a timeout, Dawn
// would print an error and not wait.
TEST(Native, AQueueAndACompilationWaitSideBySide) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();
  const Pipeline pipeline = run(*instance, device->create_pipeline(doubling)).value();
  const Buffer buffer = device->create_buffer({.size = 1 << 22, .usage = BufferUsage::storage});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  Encoder encoder = device->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    for (int i = 0; i < 20; ++i) pass.run(pipeline, {&group}, {16384});
  }
  testing::internal::CaptureStderr();
  device->submit(std::move(encoder));
  std::vector<int> ended;
  start<Result<>>(device->idle(), [&](const Result<>&) { ended.push_back(1); });
  PipelineOptions other = doubling;
  other.wgsl += "\n// Not the one that is compiled already.\n";
  start<Result<Pipeline>>(device->create_pipeline(other),
                          [&](const Result<Pipeline>&) { ended.push_back(2); });

  for (int i = 0; i < 1000 && ended.size() < 2; ++i) instance->poll(std::chrono::milliseconds(100));

  EXPECT_THAT(ended, testing::UnorderedElementsAre(1, 2));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Native, ABusyWaitEndsWithTheOperationOrWithTheTimeOfTheCall) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();
  dynamic_cast<native::DawnBackend&>(device->backend()).loop().set_busy_wait(std::chrono::hours(1));
  const Pipeline pipeline = run(*instance, device->create_pipeline(doubling)).value();
  const Buffer buffer = device->create_buffer({.size = 1 << 22, .usage = BufferUsage::storage});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  Encoder encoder = device->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    for (int i = 0; i < 20; ++i) pass.run(pipeline, {&group}, {16384});
  }
  device->submit(std::move(encoder));
  bool ended = false;
  start<Result<>>(device->idle(), [&](const Result<>&) { ended = true; });

  int calls = 0;
  for (; calls < 10'000'000 && !ended; ++calls) instance->poll(std::chrono::microseconds(20));

  EXPECT_TRUE(ended);
  EXPECT_GT(calls, 1) << "no call returned before the work had ended";
}

}  // namespace
}  // namespace weft::gpu
