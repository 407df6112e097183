// Tests that a graph that cannot run gives an error of one sentence with the node's name, and that
// a graph that can run keeps only the nodes that its outputs need.
#include "engine/onnx/operators/prepare.h"

#include <gtest/gtest.h>

#include "engine/onnx/operators/interpreter.h"

namespace weft::onnx {
namespace {

ValueInfo float_input(std::string name, std::vector<Dimension> shape) {
  return {.name = std::move(name), .type = ElementType::f32, .shape = std::move(shape)};
}
ModelNode node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
               Attributes attributes = {}) {
  return {.name = "n_" + outputs[0],
          .op = std::move(op),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = std::move(attributes)};
}
Model model(std::vector<ModelNode> nodes, std::string output = "y") {
  Model made;
  made.opset = 17;
  made.nodes = std::move(nodes);
  made.inputs = {float_input("x", {{.size = {}, .symbol = "n"}, {.size = 2, .symbol = {}}})};
  made.outputs = {float_input(std::move(output), {})};
  return made;
}
std::string refusal(Model made) {
  const auto graph = prepare(std::move(made));
  return graph ? "prepared" : graph.error().message;
}

TEST(Prepare, RefusesWhatItDoesNotKnowInOneSentenceThatNamesTheNode) {
  EXPECT_EQ(refusal(model({node("Foo", {"x"}, {"y"})})),
            "Node 'n_y' is of operator Foo, which is not supported.");
  Model foreign = model({node("Relu", {"x"}, {"y"})});
  foreign.nodes[0].domain = "com.example";
  EXPECT_EQ(refusal(std::move(foreign)),
            "Node 'n_y' is of operator Relu of the domain 'com.example', which is not supported.");
  EXPECT_EQ(refusal(model({node("Relu", {"x"}, {"y"}, {{"speed", 1.0f}})})),
            "Node 'n_y' (Relu): its attribute 'speed' is not supported.");
  EXPECT_EQ(refusal(model({node("LeakyRelu", {"x"}, {"y"}, {{"alpha", std::int64_t{1}}})})),
            "Node 'n_y' (LeakyRelu): its attribute 'alpha' must be a float.");
  EXPECT_EQ(refusal(model({node("Relu", {"z"}, {"y"})})),
            "Node 'n_y' (Relu) reads 'z', which no input and no earlier node gives.");
  EXPECT_EQ(refusal(model({node("Add", {"x"}, {"y"})})), "Node 'n_y' (Add) lacks input 1.");
  EXPECT_EQ(refusal(model({node("Relu", {"x", "x"}, {"y"})})),
            "Node 'n_y' (Relu) has 2 inputs; at most 1 are supported.");
  EXPECT_EQ(refusal(model({node("Relu", {"x"}, {"x"})})),
            "The name 'x' of an output is used twice.");
  EXPECT_EQ(refusal(model({node("Relu", {"x"}, {"z"})})), "No node computes the output 'y'.");
}

TEST(Prepare, ComputesConstantsOnceAndLeavesOutWhatNoOutputNeeds) {
  Model made =
      model({node("Constant", {}, {"c"}, {{"value_ints", std::vector<std::int64_t>{2, 3}}}),
             node("ConstantOfShape", {"c"}, {"zeros"}), node("Exp", {"zeros"}, {"ones"}),
             node("Sin", {"x"}, {"unused"}), node("MatMul", {"x", "ones"}, {"y"})});

  const auto graph = prepare(made);
  const auto whole = prepare(made, {.fold = false, .keep_unused = true});

  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->nodes.size(), 1u);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->nodes.size(), 5u);
  const float x[] = {1, 2, 3, 4};
  const auto folded = interpret(*graph, {Tensor::of<float>({2, 2}, x)});
  const auto plain = interpret(*whole, {Tensor::of<float>({2, 2}, x)});
  ASSERT_TRUE(folded && plain);
  EXPECT_EQ((*folded)[0].shape(), (Shape{2, 3}));
  EXPECT_EQ((*folded)[0].number(3), 7);
  EXPECT_TRUE(std::ranges::equal((*folded)[0].bytes(), (*plain)[0].bytes()));
}

TEST(Prepare, DoesNotComputeConstantsOverTheBound) {
  Model made =
      model({node("Constant", {}, {"c"}, {{"value_ints", std::vector<std::int64_t>{1 << 20}}}),
             node("ConstantOfShape", {"c"}, {"y"})});

  const auto graph = prepare(std::move(made), {.folded_bytes_max = 1 << 10});

  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->nodes.size(), 1u);
}

TEST(Interpret, RefusesInputsThatDoNotFit) {
  const auto graph = prepare(model({node("Relu", {"x"}, {"y"})}));
  ASSERT_TRUE(graph.has_value());
  const float x[] = {1, 2, 3};

  EXPECT_EQ(interpret(*graph, {Tensor::of<float>({1, 3}, x)}).error().message,
            "The input 'x' must be of shape [1, 2], not [1, 3].");
  EXPECT_EQ(interpret(*graph, {}).error().message, "The model takes 1 inputs; 0 are given.");
  const std::int64_t whole[] = {1, 2};
  EXPECT_EQ(interpret(*graph, {Tensor::of<std::int64_t>({1, 2}, whole)}).error().message,
            "The input 'x' must be of type f32, not i64.");
}

TEST(Interpret, NamesTheNodeThatFails) {
  const auto graph = prepare(model({node("Reshape", {"x", "x"}, {"y"})}));
  ASSERT_TRUE(graph.has_value());
  const float x[] = {1, 2};

  const auto outputs = interpret(*graph, {Tensor::of<float>({1, 2}, x)});

  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().message, "Node 'n_y' (Reshape): input 1 must be of integers, not f32.");
}

TEST(Interpret, HoldsTensorsToItsBound) {
  const auto graph = prepare(model({node("Relu", {"x"}, {"r"}), node("Exp", {"r"}, {"y"})}));
  ASSERT_TRUE(graph.has_value());
  const float x[] = {1, 2};

  const auto outputs =
      interpret(*graph, {Tensor::of<float>({1, 2}, x)}, {.after = {}, .bytes_max = 12});

  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().code, ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace weft::onnx
