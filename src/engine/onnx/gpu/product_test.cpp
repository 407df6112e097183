// Tests that matrix products of sizes below, at and above a tile equal plain loops.
#include <gtest/gtest.h>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using test::model_node;
using test::numbers;

void expect_as_loops(Model model, std::vector<Tensor> inputs, const std::string& what) {
  const Graph graph = prepare(std::move(model)).value();
  GpuModel gpu_model(*test::gpu_machine().device, graph, {});

  const auto outputs = test::run_now(gpu_model, inputs);
  const auto expected = interpret(graph, std::move(inputs), {});

  ASSERT_TRUE(outputs.has_value()) << what << ": " << outputs.error().message;
  ASSERT_TRUE(expected.has_value()) << what << ": " << expected.error().message;
  EXPECT_EQ(gpu_model.statistics().dispatches, 1u) << what;
  ASSERT_EQ((*outputs)[0].shape(), (*expected)[0].shape()) << what;
  // The bound of sums of at most 100 products of at most 1 in another order.
  for (std::int64_t i = 0; i < (*expected)[0].count(); ++i)
    ASSERT_NEAR((*outputs)[0].number(i), (*expected)[0].number(i), 1e-4) << what << " " << i;
}
Model product_model(ModelNode node, const std::vector<Shape>& shapes) {
  Model model;
  model.opset = 17;
  const std::vector<std::string> names = {"a", "b", "c"};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    model.inputs.push_back(test::float_value(names[i], shapes[i]));
  model.outputs = {{.name = "y", .type = ElementType::f32, .shape = std::nullopt}};
  model.nodes = {std::move(node), model_node("Relu", {"p"}, "y")};
  return model;
}

TEST(GpuProduct, GivesWhatPlainLoopsGive) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{5, 7}, {7, 3}},
                                                                 {{32, 16}, {16, 32}},
                                                                 {{33, 17}, {17, 65}},
                                                                 {{2, 3, 40, 50}, {3, 50, 31}},
                                                                 {{16, 100}, {4, 100, 16}}})
    expect_as_loops(product_model(model_node("MatMul", {"a", "b"}, "p"), {a, b}),
                    {numbers(a), numbers(b)}, to_string(a) + " by " + to_string(b));
}

TEST(GpuProduct, TurnsScalesAndAddsAsGemmAsks) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  for (const bool turn_a : {false, true})
    for (const bool turn_b : {false, true}) {
      const Shape a = turn_a ? Shape{40, 33} : Shape{33, 40};
      const Shape b = turn_b ? Shape{35, 40} : Shape{40, 35};
      expect_as_loops(product_model(model_node("Gemm", {"a", "b", "c"}, "p",
                                               {{"transA", std::int64_t{turn_a}},
                                                {"transB", std::int64_t{turn_b}},
                                                {"alpha", 0.5f},
                                                {"beta", 2.0f}}),
                                    {a, b, {35}}),
                      {numbers(a), numbers(b), numbers({35})},
                      weft::format("turned {} {}", turn_a, turn_b));
    }
}

}  // namespace
}  // namespace weft::onnx
