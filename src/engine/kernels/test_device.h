// The device of the kernel tests: this machine's best device (lavapipe without a GPU), with all
// features that trusted shaders may use, shared by the tests of one program.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/gpu/native/instance.h"
#include "engine/gpu/test_shared_pipelines.h"
#include "engine/kernels/batch.h"
#include "engine/kernels/reference/exact.h"

namespace weft::kernels::test {

struct Machine {
  std::unique_ptr<gpu::PumpedInstance> instance = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device;
};
inline Machine& machine() {
  static Machine shared = [] {
    Machine made;
    auto device =
        gpu::run(*made.instance,
                 made.instance->create_device({.label = "kernels", .trusted_shaders = true}));
    if (device) made.device = gpu::test::SharedPipelines::over(std::move(*device));
    return made;
  }();
  return shared;
}

class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(machine().device, nullptr) << "no GPU, not even a software one";
  }
  void TearDown() override { EXPECT_TRUE(device().uncaptured_errors().empty()); }

  static gpu::Device& device() { return *machine().device; }

  template <class T>
  static gpu::Buffer upload(const std::vector<T>& values) {
    using gpu::BufferUsage;
    gpu::Buffer buffer = device().create_buffer(
        {.size = std::max<std::size_t>(16, (values.size() * sizeof(T) + 15) / 16 * 16),
         .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination});
    if (!values.empty()) device().write(buffer, 0, as_bytes(std::span<const T>(values)));
    return buffer;
  }
  static gpu::Buffer uniform(const BatchSize& size) {
    using gpu::BufferUsage;
    gpu::Buffer buffer = device().create_buffer(
        {.size = sizeof size, .usage = BufferUsage::uniform | BufferUsage::copy_destination});
    device().write(buffer, 0, {reinterpret_cast<const std::uint8_t*>(&size), sizeof size});
    return buffer;
  }
  template <class T>
  static std::vector<T> download(const gpu::Buffer& buffer, std::size_t count) {
    using gpu::BufferUsage;
    std::vector<T> out(count);
    const std::size_t bytes = count * sizeof(T);
    const gpu::Buffer staging = device().create_buffer(
        {.size = bytes, .usage = BufferUsage::map_read | BufferUsage::copy_destination});
    gpu::Encoder encoder = device().create_encoder();
    encoder.copy(buffer, 0, staging, 0, bytes);
    device().submit(std::move(encoder));
    const auto read =
        gpu::run(*machine().instance,
                 device().read(staging, 0, {reinterpret_cast<std::uint8_t*>(out.data()), bytes}));
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return out;
  }
  static gpu::Pipeline compile(const gpu::PipelineOptions& options) {
    auto pipeline = gpu::run(*machine().instance, device().create_pipeline(options));
    EXPECT_TRUE(pipeline.has_value()) << options.label << ": " << pipeline.error().message << "\n"
                                      << options.wgsl;
    return std::move(*pipeline);
  }
  static void run(const gpu::Pipeline& pipeline,
                  std::initializer_list<const gpu::BindGroup*> groups, gpu::Workgroups workgroups) {
    gpu::Encoder encoder = device().create_encoder();
    {
      gpu::Pass pass = encoder.begin_pass();
      pass.run(pipeline, groups, workgroups);
    }
    device().submit(std::move(encoder));
  }
};

inline std::vector<float> random_floats(std::size_t count, std::uint32_t seed, float scale = 1) {
  return reference::normal_floats(count, seed, scale);
}

// Checks |got - expected| <= absolute + relative * |expected| for all elements.
inline void expect_close(const std::vector<float>& got, const std::vector<float>& expected,
                         float absolute, float relative, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - expected[i]), absolute + relative * std::abs(expected[i]))
        << what << " at " << i << ": " << got[i] << ", not " << expected[i];
}

}  // namespace weft::kernels::test
