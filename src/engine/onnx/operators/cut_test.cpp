// Tests that the parts of a graph, written as separate files and read again, give the results of
// the whole graph, and that the places to cut leave parts of similar work with few bytes to hand
// over.
#include "engine/onnx/operators/cut.h"

#include <gtest/gtest.h>

#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"
#include "engine/onnx/write_model.h"

namespace weft::onnx {
namespace {

ModelNode cut_node(std::string op, std::vector<std::string> inputs, std::string output,
                   Attributes attributes = {}) {
  return {.name = output,
          .op = std::move(op),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = std::move(attributes)};
}
Tensor cut_numbers(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 50.0f;
  return Tensor::of<float>(std::move(shape), values);
}
ValueInfo cut_value(std::string name, const std::vector<std::int64_t>& shape) {
  ValueInfo out{
      .name = std::move(name), .type = ElementType::f32, .shape = std::vector<Dimension>()};
  for (const std::int64_t size : shape) out.shape->push_back({.size = size, .symbol = {}});
  return out;
}
// A graph of three convolutions with a residual around the second. The first halves the picture.
Graph cut_graph() {
  using List = std::vector<std::int64_t>;
  Model model;
  model.opset = 17;
  model.inputs = {cut_value("x", {1, 3, 16, 16})};
  model.outputs = {cut_value("y", {1, 4, 8, 8})};
  model.initializers = {{"w0", cut_numbers({8, 3, 3, 3})},
                        {"w1", cut_numbers({8, 8, 3, 3})},
                        {"w2", cut_numbers({4, 8, 1, 1})}};
  model.nodes = {
      cut_node("Conv", {"x", "w0"}, "a", {{"pads", List{1, 1, 1, 1}}, {"strides", List{2, 2}}}),
      cut_node("Relu", {"a"}, "b"),
      cut_node("Conv", {"b", "w1"}, "c", {{"pads", List{1, 1, 1, 1}}}),
      cut_node("Add", {"c", "b"}, "d"),
      cut_node("Conv", {"d", "w2"}, "e"),
      cut_node("LeakyRelu", {"e"}, "y", {{"alpha", 0.25f}})};
  return prepare(std::move(model)).value();
}

TEST(Cut, PartsInFilesGiveWhatTheWholeGives) {
  const Graph graph = cut_graph();
  const Tensor input = cut_numbers({1, 3, 16, 16});
  const Inference inference = infer(graph, {input.without_bytes()}).value();
  const auto expected = interpret(graph, {input}, {}).value();

  for (std::size_t place = 1; place < graph.nodes.size(); ++place) {
    std::map<std::string, Tensor> values = {{"x", input}};
    for (const auto& [first, last] :
         {std::pair(std::size_t{0}, place), {place, graph.nodes.size()}}) {
      const Part part = part_of(graph, inference, first, last);
      std::vector<std::optional<Tensor>> shapes(part.graph.values.size());
      for (std::size_t i = 0; i < part.outputs.size(); ++i)
        shapes[part.graph.outputs[i]] = inference.values[part.outputs[i]]->without_bytes();
      const auto written = write_model(model_of(part.graph, part.graph.outputs, shapes));
      ASSERT_TRUE(written.has_value()) << written.error().message;
      auto read = read_model(*written);
      ASSERT_TRUE(read.has_value()) << read.error().message;
      const Graph again = prepare(std::move(*read)).value();
      std::vector<Tensor> inputs;
      for (const ValueInfo& info : again.inputs) inputs.push_back(values.at(info.name));
      const auto outputs = interpret(again, std::move(inputs), {});
      ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
      for (std::size_t i = 0; i < again.outputs.size(); ++i)
        values[again.name(again.outputs[i])] = (*outputs)[i];
    }
    EXPECT_TRUE(std::ranges::equal(values.at("y").bytes(), expected[0].bytes())) << place;
  }
}

TEST(Cut, CrossesWhatLaterNodesRead) {
  const Graph graph = cut_graph();
  const Inference inference = infer(graph, input_shapes(graph).value()).value();

  // After the second convolution, both its result and the residual cross the cut.
  EXPECT_EQ(crossing_bytes(graph, inference, 2), 8u * 8 * 8 * 4);
  EXPECT_EQ(crossing_bytes(graph, inference, 3), 2u * 8 * 8 * 8 * 4);
  EXPECT_EQ(crossing_bytes(graph, inference, 4), 8u * 8 * 8 * 4);
}

TEST(Cut, IsMadeWhereLittleCrosses) {
  const Graph graph = cut_graph();
  const Inference inference = infer(graph, input_shapes(graph).value()).value();

  const CutCost two = balanced_cuts(graph, inference, 2);
  const CutCost many = balanced_cuts(graph, inference, 100);

  ASSERT_EQ(two.places.size(), 1u);
  EXPECT_NE(two.places[0], 3u);
  EXPECT_EQ(two.crossing_bytes[0], crossing_bytes(graph, inference, two.places[0]));
  EXPECT_NEAR(two.work[0] + two.work[1], 1, 1e-9);
  EXPECT_EQ(many.places.size(), graph.nodes.size() - 1);
  EXPECT_TRUE(balanced_cuts(graph, inference, 1).places.empty());
}

}  // namespace
}  // namespace weft::onnx
