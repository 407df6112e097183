// Tests moves of elements and elementwise operators in one kernel, and concatenations whose inputs
// are written directly into the result: they equal plain loops with fewer dispatches.
#include "engine/onnx/gpu/region.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using test::model_node;
using test::numbers;

using NamedTensor = std::pair<std::string, Tensor>;

NamedTensor integers(std::string name, std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {std::move(name), Tensor::of<std::int64_t>({count}, values)};
}
NamedTensor scalar(std::string name, float value) {
  return {std::move(name), Tensor::of<float>({}, std::span<const float>(&value, 1))};
}

struct Made {
  Graph graph;
  std::size_t dispatches = 0;
};
// Runs a model with one input 'x' and one output 'y' on the GPU and by plain loops, and compares
// them.
Made same_as_plain_loops(std::vector<ModelNode> nodes, std::vector<NamedTensor> constants,
                         const Shape& input, double tolerance = 1e-5) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", input)};
  model.outputs = {{.name = "y", .type = ElementType::f32, .shape = std::nullopt}};
  model.initializers = std::move(constants);
  model.nodes = std::move(nodes);
  Made made{.graph = prepare(std::move(model)).value()};
  const Tensor given = numbers(input);
  GpuModel gpu(*test::gpu_machine().device, made.graph, {});

  const auto outputs = test::run_now(gpu, {given});
  const auto again = test::run_now(gpu, {given});
  const auto expected = interpret(made.graph, {given}, {});

  EXPECT_TRUE(outputs.has_value() && again.has_value()) << (outputs ? "" : outputs.error().message);
  EXPECT_TRUE(expected.has_value());
  const std::vector<std::string> errors = test::gpu_machine().device->uncaptured_errors();
  EXPECT_TRUE(errors.empty()) << errors[0];
  if (!outputs || !again || !expected) return made;
  EXPECT_EQ((*outputs)[0].shape(), (*expected)[0].shape());
  for (std::int64_t i = 0; i < (*expected)[0].count(); ++i) {
    EXPECT_NEAR((*outputs)[0].number(i), (*expected)[0].number(i), tolerance) << i;
    if (testing::Test::HasFailure()) return made;
  }
  EXPECT_TRUE(std::ranges::equal((*outputs)[0].bytes(), (*again)[0].bytes()));
  made.dispatches = gpu.statistics().dispatches;
  return made;
}

class Regions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  }
};

// The graph has three anchors of 2 + 2 + 3 channels, as the head of a detector.
TEST_F(Regions, ComputeTheHeadOfADetectorInOneKernel) {
  using List = std::vector<std::int64_t>;
  const Tensor grid = numbers({1, 1, 4, 5, 2}), sizes = numbers({1, 3, 1, 1, 2});
  const auto slice = [](std::string part) {
    return model_node("Slice", {"s", part + "_from", part + "_to", "last"}, part);
  };
  const Made made = same_as_plain_loops(
      {model_node("Reshape", {"x", "five"}, "r"),
       model_node("Transpose", {"r"}, "t", {{"perm", List{0, 1, 3, 4, 2}}}),
       model_node("Sigmoid", {"t"}, "s"), slice("a"), model_node("Mul", {"a", "two"}, "a2"),
       model_node("Add", {"a2", "grid"}, "a3"), slice("b"), model_node("Mul", {"b", "two"}, "b2"),
       model_node("Pow", {"b2", "two"}, "b3"), model_node("Mul", {"b3", "sizes"}, "b4"), slice("c"),
       model_node("Concat", {"a3", "b4", "c"}, "j", {{"axis", std::int64_t{-1}}}),
       model_node("Reshape", {"j", "rows"}, "y")},
      {integers("five", {1, 3, 7, 4, 5}),
       integers("rows", {1, 60, 7}),
       integers("a_from", {0}),
       integers("a_to", {2}),
       integers("b_from", {2}),
       integers("b_to", {4}),
       integers("c_from", {4}),
       integers("c_to", {7}),
       integers("last", {4}),
       scalar("two", 2),
       {"grid", grid},
       {"sizes", sizes}},
      {1, 21, 4, 5});

  EXPECT_EQ(made.dispatches, 1u);
}

TEST_F(Regions, FollowSlicesBackwardsRepeatsAndJoins) {
  const Made made = same_as_plain_loops(
      {model_node("Slice", {"x", "from", "to", "axes", "steps"}, "s"),
       model_node("Neg", {"s"}, "n"),
       model_node("Concat", {"n", "x", "n"}, "j", {{"axis", std::int64_t{2}}}),
       model_node("Transpose", {"j"}, "t"), model_node("Abs", {"t"}, "a"),
       model_node("Unsqueeze", {"a", "front"}, "u"), model_node("Expand", {"u", "wide"}, "e"),
       model_node("Add", {"e", "row"}, "y")},
      {integers("from", {1, 6}),
       integers("to", {-9, 0}),
       integers("axes", {0, 2}),
       integers("steps", {-1, -2}),
       integers("front", {0}),
       integers("wide", {3, 13, 5, 2}),
       {"row", numbers({3, 1, 1, 2})}},
      {2, 5, 7});

  // A value that is computed once and then repeated stays in memory, so the region ends at the
  // repetition.
  EXPECT_EQ(made.dispatches, 3u);
}

// Many elements read each result of Exp, so the kernel must not compute the result for each of
// them.
TEST_F(Regions, ComputeNothingTwice) {
  const Made made =
      same_as_plain_loops({model_node("Exp", {"x"}, "e"), model_node("Expand", {"e", "wide"}, "w"),
                           model_node("Add", {"w", "more"}, "y")},
                          {integers("wide", {64, 16}), {"more", numbers({64, 16})}}, {1, 16});

  EXPECT_EQ(made.dispatches, 2u);
}

// The graph is a detector's pyramid: each pool reads the result of the previous pool. A kernel
// cannot read and write the same memory, so not all pools can be in the memory of the
// concatenation.
TEST_F(Regions, WritePartsOfAConcatenationWhereTheyStand) {
  using List = std::vector<std::int64_t>;
  const auto pool = [](std::string from, std::string to) {
    return model_node("MaxPool", {std::move(from)}, std::move(to),
                      {{"kernel_shape", List{3, 3}}, {"pads", List{1, 1, 1, 1}}});
  };
  const Made made = same_as_plain_loops(
      {model_node("Relu", {"x"}, "r"), pool("r", "p"), pool("p", "q"), pool("q", "s"),
       model_node("Concat", {"r", "p", "q", "s"}, "j", {{"axis", std::int64_t{1}}}),
       model_node("Conv", {"j", "w"}, "y")},
      {{"w", numbers({8, 16, 1, 1})}}, {1, 4, 16, 16}, 1e-4);

  // The dispatches are Relu, three pools, a kernel that copies two parts, and the convolution.
  EXPECT_EQ(made.dispatches, 6u);
}

TEST_F(Regions, PlaceJoinsOfJoins) {
  const Made made = same_as_plain_loops(
      {model_node("Relu", {"x"}, "a"), model_node("Neg", {"x"}, "b"),
       model_node("Concat", {"a", "b"}, "j", {{"axis", std::int64_t{1}}}),
       model_node("Exp", {"x"}, "c"),
       model_node("Concat", {"c", "j", "x"}, "k", {{"axis", std::int64_t{1}}}),
       model_node("Conv", {"k", "w"}, "m"), model_node("Conv", {"j", "v"}, "n"),
       model_node("Add", {"m", "n"}, "y")},
      {{"w", numbers({4, 16, 1, 1})}, {"v", numbers({4, 8, 1, 1})}}, {1, 4, 8, 8}, 1e-3);

  // The dispatches are three operators, a copy of x, and two convolutions, the second with the sum.
  EXPECT_EQ(made.dispatches, 6u);
}

// WebGPU does not let a binding begin at an offset of 4 * 3 * 3 words.
TEST_F(Regions, CopyPartsThatWouldBeginBetweenPlaces) {
  const Made made =
      same_as_plain_loops({model_node("Relu", {"x"}, "a"), model_node("Exp", {"x"}, "b"),
                           model_node("Concat", {"a", "b"}, "j", {{"axis", std::int64_t{1}}}),
                           model_node("Conv", {"j", "w"}, "y")},
                          {{"w", numbers({4, 8, 1, 1})}}, {1, 4, 3, 3}, 1e-4);

  // The dispatches are both operators at once, a kernel that copies both, and the convolution.
  EXPECT_EQ(made.dispatches, 3u);
}

}  // namespace
}  // namespace weft::onnx
