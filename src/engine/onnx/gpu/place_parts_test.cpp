// Tests that the inputs of a concatenation are written directly into its result, also for each of
// several images, with no copies and the same numbers.
#include "engine/onnx/gpu/place_parts.h"

#include <gtest/gtest.h>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using test::model_node;
using test::numbers;

// A graph of two convolutions of `batch` images that are joined by channels. With `also` the second
// convolution is an output too.
Graph joined_graph(std::int64_t batch, bool also) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {batch, 4, 8, 8})};
  model.outputs = {test::float_value("y", {batch, 24, 8, 8})};
  if (also) model.outputs.push_back(test::float_value("q", {batch, 16, 8, 8}));
  model.initializers = {{"w1", numbers({8, 4, 1, 1})},
                        {"w2", numbers({16, 4, 1, 1})},
                        {"w3", numbers({24, 24, 1, 1})}};
  model.nodes = {model_node("Conv", {"x", "w1"}, "p"), model_node("Conv", {"x", "w2"}, "q"),
                 model_node("Concat", {"p", "q"}, "j", {{"axis", std::int64_t{-3}}}),
                 model_node("Conv", {"j", "w3"}, "y")};
  return prepare(std::move(model)).value();
}

struct Ran {
  std::vector<Tensor> outputs;
  std::size_t dispatches = 0;
};
Ran run_of(const Graph& graph, const Tensor& input, bool halves, bool keep_all) {
  GpuModel model(*test::gpu_machine().device, graph, {.keep_all = keep_all, .halves = halves});
  auto outputs = test::run_now(model, {input});
  EXPECT_TRUE(outputs.has_value()) << outputs.error().message;
  return {.outputs = outputs ? std::move(*outputs) : std::vector<Tensor>(),
          .dispatches = model.statistics().dispatches};
}

// Returns the number of kernels that belong to concatenations.
std::size_t copies_in(const Graph& graph) {
  const Inference inference = infer(graph, input_shapes(graph).value()).value();
  const Schedule schedule = make_schedule({.graph = graph, .inference = inference}, {});
  std::size_t count = 0;
  for (const Step& step : schedule.steps)
    for (const Kernel& kernel : step.kernels) count += kernel.label.contains("Concat") ? 1 : 0;
  return count;
}

TEST(PlaceParts, WriteEachImagesPartToItsPlace) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  for (const std::int64_t batch : {1, 3}) {
    const Tensor input = numbers({batch, 4, 8, 8});
    for (const bool halves : {false, true}) {
      if (halves && !test::gpu_machine().device->has("shader-f16")) continue;
      const Graph graph = joined_graph(batch, false);
      const auto expected = interpret(graph, {input}, {}).value();

      const Ran got = run_of(graph, input, halves, false);

      EXPECT_EQ(got.dispatches, 3u) << "batch " << batch;
      EXPECT_EQ(copies_in(graph), 0u) << "batch " << batch;
      ASSERT_EQ(got.outputs.size(), 1u);
      for (std::int64_t k = 0; k < expected[0].count(); ++k)
        ASSERT_NEAR(got.outputs[0].number(k), expected[0].number(k), halves ? 0.03 : 1e-3)
            << "batch " << batch << ", element " << k;
    }
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(PlaceParts, LeaveWhatIsReadElsewhereInOnePiece) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const Tensor input = numbers({3, 4, 8, 8});
  for (const auto& [also, keep_all] : {std::pair{true, false}, {false, true}}) {
    const Graph graph = joined_graph(3, also);
    const auto expected = interpret(graph, {input}, {}).value();

    const Ran got = run_of(graph, input, false, keep_all);

    EXPECT_EQ(copies_in(graph), also ? 1u : 0u);

    ASSERT_EQ(got.outputs.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (std::int64_t k = 0; k < expected[i].count(); ++k)
        ASSERT_NEAR(got.outputs[i].number(k), expected[i].number(k), 1e-3)
            << "output " << i << ", element " << k;
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

}  // namespace
}  // namespace weft::onnx
