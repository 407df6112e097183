// Each pipeline is compiled once, before the first pass that needs it, and no other pipeline is
// compiled.
#include "engine/llm/gpu/program.h"

#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"

namespace weft::llm {
namespace {

using gpu::null::Command;

class ProgramTest : public testing::Test {
 protected:
  std::unique_ptr<gpu::null::NullInstance> instance_ = gpu::null::create_instance();
  std::unique_ptr<gpu::Device> device_ = gpu::run(*instance_, instance_->create_device({})).value();
  gpu::PipelineCache pipelines_{*device_};
  DispatchMaker maker_{*device_, pipelines_};
  gpu::Buffer buffer_ = device_->create_buffer({.size = 64});
  Program program_;

  static gpu::PipelineOptions kernel(const std::string& name) {
    return {.wgsl = name, .label = name, .groups = {{{.binding = 0}}}};
  }
  void add(bool later, const std::string& kernel_name, Dispatch dispatch) {
    dispatch.workgroups = [](const RowCount&) { return gpu::Workgroups{}; };
    ProgramBuilder builder(maker_, later);
    ASSERT_TRUE(gpu::run(*instance_, builder.add(program_, kernel(kernel_name), {{{0, buffer_}}},
                                                 std::move(dispatch)))
                    .has_value());
  }
  Result<> prepare(RowCount count, std::uint32_t further = 0) {
    return gpu::run(*instance_, program_.prepare(maker_, count, further));
  }
  std::uint32_t record(const RowCount& count) {
    gpu::Encoder encoder = device_->create_encoder();
    std::uint32_t recorded = 0;
    {
      gpu::Pass pass = encoder.begin_pass();
      recorded = program_.record(pass, count);
    }
    device_->submit(std::move(encoder));
    return recorded;
  }
  std::vector<std::string> compiled() const {
    std::vector<std::string> labels;
    for (const Command& command : instance_->commands())
      if (command.kind == Command::Kind::create_pipeline) labels.push_back(command.label);
    return labels;
  }
};

using Labels = std::vector<std::string>;

TEST_F(ProgramTest, CompilesWhatIsAddedAtOnceUnlessToldLater) {
  add(false, "a", {});
  EXPECT_EQ(compiled(), Labels{"a"});
  EXPECT_TRUE(program_.is_whole());
  EXPECT_EQ(record({.rows = 1, .segments = 1}), 1);
}

TEST_F(ProgramTest, CompilesEachKernelBeforeTheFirstPassThatNeedsItAndOnce) {
  add(true, "few", {.rows_max = 4});
  add(true, "many", {.rows_min = 5});
  add(true, "few", {.rows_max = 4});  // Another layer, with the first dispatch's kernel.
  add(true, "all", {});
  EXPECT_EQ(compiled(), Labels{});

  ASSERT_TRUE(prepare({.rows = 2, .segments = 2}).has_value());
  EXPECT_EQ(compiled(), (Labels{"few", "all"}));
  EXPECT_FALSE(program_.is_whole());
  EXPECT_EQ(record({.rows = 2, .segments = 2}), 3);

  ASSERT_TRUE(prepare({.rows = 3, .segments = 3}).has_value());
  EXPECT_EQ(compiled(), (Labels{"few", "all"}));
  ASSERT_TRUE(prepare({.rows = 7, .segments = 1}).has_value());
  EXPECT_EQ(compiled(), (Labels{"few", "all", "many"}));
  EXPECT_TRUE(program_.is_whole());
  EXPECT_EQ(record({.rows = 7, .segments = 1}), 2);
}

TEST_F(ProgramTest, CompilesForThePassesThatFollowAsPositionsGrow) {
  add(true, "short", {.least_max = 9});
  add(true, "long", {.positions_min = 10});
  const RowCount first{.rows = 1, .segments = 1, .positions = 7, .positions_least = 7};

  ASSERT_TRUE(prepare(first, 2).has_value());
  EXPECT_EQ(compiled(), Labels{"short"});
  ASSERT_TRUE(prepare(first, 3).has_value());
  EXPECT_EQ(compiled(), (Labels{"short", "long"}));
}

TEST_F(ProgramTest, BindsABufferWhereverItsOwnerHasMoved) {
  add(true, "a", {});
  const gpu::Handle handle = buffer_.handle();
  std::vector<gpu::Buffer> kept;
  kept.push_back(std::move(buffer_));

  ASSERT_TRUE(prepare({.rows = 1, .segments = 1}).has_value());
  for (const Command& command : instance_->commands()) {
    if (command.kind != Command::Kind::create_bind_group) continue;
    const auto bound = instance_->bound(command.object);
    ASSERT_EQ(bound.size(), 1U);
    EXPECT_EQ(bound[0].buffer, handle);
    EXPECT_EQ(bound[0].size, 64U);
  }
  EXPECT_EQ(instance_->count(Command::Kind::create_bind_group), 1U);
}

TEST_F(ProgramTest, TriesAgainAfterACompilationThatFailed) {
  add(true, "a", {});
  instance_->failures().compile =
      gpu::CompileMessage{.line = 1, .column = 1, .text = "The driver has no memory."};
  EXPECT_FALSE(prepare({.rows = 1, .segments = 1}).has_value());
  instance_->failures().compile.reset();
  ASSERT_TRUE(prepare({.rows = 1, .segments = 1}).has_value());
  EXPECT_EQ(record({.rows = 1, .segments = 1}), 1);
}

}  // namespace
}  // namespace weft::llm
