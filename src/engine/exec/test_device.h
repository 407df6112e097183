// The fixture for the tests of this folder: this machine's best device (lavapipe if there is no
// GPU), and functions that make jobs from manifest texts.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/exec/executor.h"
#include "engine/gpu/native/instance.h"

namespace weft::exec {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = gpu::run(*instance, instance->create_device({.label = "test"}));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    device = std::move(*made);
    executor = create_gpu_executor(*device, bounds);
  }
  // Makes a job whose data is inline in the manifest.
  static std::shared_ptr<const Job> job(std::string_view json) {
    auto manifest = manifest::parse(json);
    EXPECT_TRUE(manifest.has_value()) << manifest.error().message;
    auto made = std::make_shared<Job>();
    if (!manifest) return made;
    made->manifest = std::move(*manifest);
    const auto inline_bytes = [](const manifest::Data& data) {
      const auto* given = std::get_if<manifest::Inline>(&data);
      return given == nullptr ? ByteVector() : given->bytes;
    };
    if (made->manifest.kind == manifest::Kind::kernel) {
      made->data = {inline_bytes(made->manifest.kernel.a), inline_bytes(made->manifest.kernel.b)};
    } else {
      made->shader = std::get<std::string>(made->manifest.shader);
      for (const auto& binding : made->manifest.bindings)
        made->data.push_back(inline_bytes(binding.data));
    }
    return made;
  }
  Result<Output> run_range(const std::shared_ptr<const Job>& job, RunOptions options) {
    return gpu::run(*instance, executor->run(job, std::move(options)));
  }
  // Runs the whole axis as one range.
  Result<Output> run_whole(const std::shared_ptr<const Job>& job, std::uint32_t piece = 0) {
    return run_range(job, {.range = {.first = 0, .count = manifest::axis_length(job->manifest)},
                           .piece_workgroups_max = piece});
  }
  // Runs each task of the job by itself and joins the outputs, as the network does.
  Result<std::vector<ByteVector>> run_tasks(const std::shared_ptr<const Job>& job,
                                            std::uint32_t piece = 0) {
    std::vector<std::vector<ByteVector>> parts;
    for (std::uint32_t task = 0; task < job->manifest.split.tasks; ++task) {
      WEFT_ASSIGN(Output output, run_range(job, {.range = manifest::task_range(job->manifest, task),
                                                 .piece_workgroups_max = piece}));
      parts.push_back(std::move(output.outputs));
    }
    return manifest::join(job->manifest, parts);
  }

  std::unique_ptr<gpu::PumpedInstance> instance = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device;
  Bounds bounds;
  std::unique_ptr<Executor> executor;
};

// The bytes of an output as elements of the type T.
template <class T>
std::vector<T> elements(const ByteVector& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace weft::exec
