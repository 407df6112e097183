// Tests which runs share a plan, and which inputs may be on the device alone.
#include "engine/onnx/gpu/input_rules.h"

#include <gtest/gtest.h>

#include "engine/gpu/null/instance.h"
#include "engine/gpu/run.h"
#include "engine/onnx/gpu/test_shaped_graph.h"

namespace weft::onnx {
namespace {

using test::shaped_inputs;

class InputRulesTest : public testing::Test {
 protected:
  const Graph graph_ = test::shaped_graph();
  const InputRules rules_{graph_};
};

TEST_F(InputRulesTest, ValuesThatSayAShapeBelongToAPlan) {
  const auto inputs = shaped_inputs(4, 16);

  EXPECT_FALSE(rules_.is_known(0, inputs[0]));
  EXPECT_TRUE(rules_.is_known(1, inputs[1]));
}

TEST_F(InputRulesTest, AKeyHoldsShapesAndWhatTheySayAndNoOtherValues) {
  std::vector<Tensor> other = shaped_inputs(4, 16);
  other[0] = Tensor::of<float>({4, 8}, std::vector<float>(32, 7));
  const std::string key = rules_.key_of(shaped_inputs(4, 16));

  EXPECT_EQ(rules_.key_of(other), key);
  EXPECT_NE(rules_.key_of(shaped_inputs(4, 8)), key) << "another result";
  EXPECT_NE(rules_.key_of(shaped_inputs(8, 16)), key) << "more rows";
}

TEST_F(InputRulesTest, SaysWhyAnInputCannotBeOnTheDeviceAlone) {
  const auto instance = gpu::null::create_instance();
  const auto device = gpu::run(*instance, instance->create_device({})).value();
  const gpu::Buffer large = device->create_buffer({.size = 128}),
                    small = device->create_buffer({.size = 64});
  std::vector<Tensor> inputs = shaped_inputs(4, 16);
  using Buffers = std::vector<const gpu::Buffer*>;

  EXPECT_TRUE(rules_.check_buffers(inputs, Buffers{nullptr, nullptr}));
  EXPECT_EQ(rules_.check_buffers(inputs, Buffers{nullptr, &large}).error().code,
            ErrorCode::unsupported);
  inputs[0] = inputs[0].without_bytes();
  EXPECT_TRUE(rules_.check_buffers(inputs, Buffers{&large, nullptr}));
  EXPECT_EQ(rules_.check_buffers(inputs, Buffers{&small, nullptr}).error().message,
            "The buffer of the input 'x' has 64 bytes; shape [4, 8] takes 128.");
  EXPECT_EQ(rules_.check_buffers(inputs, Buffers{nullptr, nullptr}).error().message,
            "The input 'x' has no values.");
}

}  // namespace
}  // namespace weft::onnx
