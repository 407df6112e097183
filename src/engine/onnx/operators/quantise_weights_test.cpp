// Tests weights as integers: they take a quarter of the bytes, differ by half a step at most, and
// nothing else of the model changes.
#include "engine/onnx/operators/quantise_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"
#include "engine/onnx/write_model.h"

namespace weft::onnx {
namespace {

ModelNode layer(std::string op, std::vector<std::string> inputs, std::string output) {
  return {.name = output,
          .op = std::move(op),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = {}};
}
Tensor layer_numbers(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 50.0f;
  return Tensor::of<float>(std::move(shape), values);
}
Graph two_layers(std::int64_t opset = 17) {
  Model model;
  model.opset = opset;
  ValueInfo input{.name = "x", .type = ElementType::f32, .shape = std::vector<Dimension>()};
  for (const std::int64_t size : {1, 8, 6, 6}) input.shape->push_back({.size = size, .symbol = {}});
  model.inputs = {input};
  model.outputs = {{.name = "y", .type = ElementType::f32, .shape = std::nullopt}};
  model.initializers = {{"w0", layer_numbers({16, 8, 3, 3})},
                        {"w1", layer_numbers({32, 16, 1, 1})}};
  model.nodes = {layer("Conv", {"x", "w0"}, "a"), layer("Relu", {"a"}, "b"),
                 layer("Conv", {"b", "w1"}, "y")};
  return prepare(std::move(model)).value();
}

TEST(QuantiseWeights, TakesAQuarterOfTheBytesAndStaysCloseInAFile) {
  const Tensor input = layer_numbers({1, 8, 6, 6});
  const auto expected = interpret(two_layers(), {input}, {}).value();

  const auto small = quantise_weights(two_layers());

  ASSERT_TRUE(small.has_value()) << small.error().message;
  EXPECT_EQ(small->tensors, 2u);
  EXPECT_EQ(small->bytes_before, (16u * 8 * 9 + 32 * 16) * 4);
  EXPECT_EQ(small->bytes_after, (16u * 8 * 9 + 32 * 16) + (16 + 32) * 4);
  EXPECT_LE(small->error_max, 0.5 / 127 + 1e-6);
  const Inference inference = infer(small->graph, {input}).value();
  const auto file =
      write_model(model_of(small->graph, small->graph.outputs, inference.values)).value();
  const Graph again = prepare(read_model(file).value()).value();
  EXPECT_EQ(again.nodes.size(), 3u);  // Dequantised weights are folded.
  const auto got = interpret(again, {input}, {}).value();
  double error = 0, length = 0;
  for (std::int64_t i = 0; i < expected[0].count(); ++i) {
    error += std::pow(got[0].number(i) - expected[0].number(i), 2);
    length += std::pow(expected[0].number(i), 2);
  }
  EXPECT_GT(error, 0);
  EXPECT_LE(std::sqrt(error / length), 0.02);
}

TEST(QuantiseWeights, LeavesNodesThatAreNamed) {
  const std::vector<std::string> kept = {"y"}, unknown = {"z"};

  EXPECT_EQ(quantise_weights(two_layers(), kept)->tensors, 1u);
  EXPECT_EQ(quantise_weights(two_layers(), unknown).error().message, "The model has no node 'z'.");
  EXPECT_EQ(quantise_weights(two_layers(11)).error().message,
            "The model is of opset 11; scales for each channel need opset 13 or later.");
}

}  // namespace
}  // namespace weft::onnx
