// The GPU of the engine's tests: this machine's best device, shared by all tests of one program.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/gpu/native/instance.h"
#include "engine/gpu/run.h"
#include "engine/gpu/test_shared_pipelines.h"
#include "engine/llm/gpu/gpu_engine.h"
#include "engine/llm/test_expected.h"

namespace weft::llm::test {

struct Machine {
  std::unique_ptr<gpu::PumpedInstance> instance = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device;
  Machine() {
    if (auto made =
            gpu::run(*instance, instance->create_device({.label = "llm", .trusted_shaders = true})))
      device = gpu::test::SharedPipelines::over(std::move(*made));
  }
};
inline Machine& machine() {
  static Machine shared;
  return shared;
}
template <class T>
T run(Async<T> work) {
  return gpu::run(*machine().instance, std::move(work));
}

class GpuEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(machine().device, nullptr) << "no GPU, not even a software one";
  }
  void TearDown() override { EXPECT_TRUE(machine().device->uncaptured_errors().empty()); }

  static std::unique_ptr<Engine> engine_of(const OpenModel& model, EngineOptions options) {
    auto engine = run(create_gpu_engine(*machine().device, model.model, *model.source, options));
    EXPECT_TRUE(engine.has_value()) << engine.error().message;
    return std::move(*engine);
  }
};

// A GPU engine test with the small Llama model for chats.
class TinyLlamaTest : public GpuEngineTest {
 protected:
  void SetUp() override {
    GpuEngineTest::SetUp();
    const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
    if (!path) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
    model_ = std::move(*open_model(*path));
  }

  std::unique_ptr<OpenModel> model_;
};

// The parameter of a test, in a form that is valid in a test name.
inline std::string test_name(const testing::TestParamInfo<const char*>& row) {
  std::string name = row.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

}  // namespace weft::llm::test
