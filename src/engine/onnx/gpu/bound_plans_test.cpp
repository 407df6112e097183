// Tests the plans of a model: there is one for each set of shapes, within a bound; values of one
// client's run are cleared before the next client's run; constants that were released belong to one
// plan.
#include "engine/onnx/gpu/bound_plans.h"

#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"
#include "engine/gpu/run.h"
#include "engine/onnx/gpu/test_shaped_graph.h"

namespace weft::onnx {
namespace {

using gpu::null::Command;
using test::shaped_inputs;

class BoundPlansTest : public testing::Test {
 protected:
  void open(GpuModel::Options options = {}) {
    options_ = std::move(options);
    plans_ = std::make_unique<BoundPlans>(*device_, graph_, rules_, options_);
    instance_->forget_commands();
  }
  Result<ModelPlan*> plan_for(std::int64_t rows, std::int64_t columns = 8) {
    return gpu::run(*instance_, plans_->plan_for(shaped_inputs(rows, columns)));
  }
  [[nodiscard]] std::size_t made(Command::Kind kind) const { return instance_->count(kind); }

  std::unique_ptr<gpu::null::NullInstance> instance_ = gpu::null::create_instance();
  std::unique_ptr<gpu::Device> device_ = gpu::run(*instance_, instance_->create_device({})).value();
  Graph graph_ = test::shaped_graph();
  const InputRules rules_{graph_};
  GpuModel::Options options_;
  std::unique_ptr<BoundPlans> plans_;
};

TEST_F(BoundPlansTest, ASetOfShapesIsBoundOnce) {
  open();
  ModelPlan* const first = plan_for(4).value();
  instance_->forget_commands();

  EXPECT_EQ(plan_for(4).value(), first);
  EXPECT_TRUE(instance_->commands().empty());
  EXPECT_NE(plan_for(4, 16).value(), first) << "another shape of the result";
  EXPECT_EQ(first->number, 1u);
}

TEST_F(BoundPlansTest, PlansShareTheWeights) {
  open();
  const auto written = [&] {
    std::size_t count = 0;
    for (const Command& command : instance_->commands())
      count += command.kind == Command::Kind::write && command.size == 8 * 8 * 4;
    return count;
  };
  ASSERT_TRUE(plan_for(4));
  EXPECT_EQ(written(), 1u);

  ASSERT_TRUE(plan_for(6));

  EXPECT_EQ(written(), 1u);
}

TEST_F(BoundPlansTest, TheLongestUnusedGoesFirst) {
  open({.plans_max = 2});
  ASSERT_TRUE(plan_for(2));
  ASSERT_TRUE(plan_for(4));
  ASSERT_TRUE(plan_for(2));

  ASSERT_TRUE(plan_for(6));

  EXPECT_EQ(plan_for(2).value()->number, 1u) << "it was used since";
  EXPECT_EQ(plan_for(4).value()->number, 4u) << "bound again";
}

TEST_F(BoundPlansTest, WithoutConstantsThereIsNoOtherPlan) {
  open({.release_constants = true});
  ASSERT_TRUE(plan_for(4));

  EXPECT_TRUE(plan_for(4));
  EXPECT_EQ(plan_for(6).error().code, ErrorCode::unsupported);
  for (const auto& value : graph_.values)
    if (value.constant && value.constant->shape() == Shape({8, 8})) {
      EXPECT_FALSE(value.constant->has_bytes());
    }
}

TEST_F(BoundPlansTest, ValuesHaveABound) {
  open({.value_bytes_max = 200});

  EXPECT_EQ(plan_for(4).error().message,
            "The model's values take more than the 200 bytes that a task may take (bytes_max).");
  EXPECT_EQ(made(Command::Kind::create_buffer), 0u) << "before anything is made";
}

TEST_F(BoundPlansTest, AKernelThatDoesNotCompileIsNamed) {
  open();
  instance_->failures().compile = gpu::CompileMessage{.text = "no such word"};

  const auto plan = plan_for(4);

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::internal);
  EXPECT_TRUE(plan.error().message.contains("MatMul")) << plan.error().message;
}

TEST_F(BoundPlansTest, WhatRunsLeftIsOverwritten) {
  open();
  ModelPlan* const plan = plan_for(4).value();
  const ByteVector ones(64, 1);
  for (const gpu::Buffer& slot : plan->slots) instance_->poke(slot.handle(), 0, ones);
  plan->words = {1, 2, 3};

  plans_->clear_values();

  for (const gpu::Buffer& slot : plan->slots) {
    const ByteVector bytes = instance_->bytes(slot);
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; }));
  }
  EXPECT_EQ(plan->words, std::vector<std::uint32_t>(3));
}

}  // namespace
}  // namespace weft::onnx
