// Tests that kernels that do not depend on each other become one dispatch with the same bits, and
// that kernels that depend on each other, or that write to one buffer, are not joined.
#include "engine/onnx/gpu/side_by_side.h"

#include <gtest/gtest.h>

#include "engine/onnx/gpu/join_kernels.h"
#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using test::model_node;
using test::numbers;

const Shape picture = {1, 8, 8, 8};

Graph convolutions(std::vector<ModelNode> nodes, std::vector<ValueInfo> outputs) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", picture)};
  model.outputs = std::move(outputs);
  model.initializers = {
      {"w1", numbers({8, 8, 1, 1})}, {"w3", numbers({8, 8, 3, 3})}, {"b", numbers({8})}};
  model.nodes = std::move(nodes);
  return prepare(std::move(model)).value();
}
ModelNode convolution(std::string from, std::string to, bool wide) {
  return model_node(
      "Conv", {std::move(from), wide ? "w3" : "w1", "b"}, std::move(to),
      wide ? Attributes{{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}} : Attributes());
}
std::vector<std::string> labels_of(const Graph& graph, bool join) {
  const Inference inference = infer(graph, input_shapes(graph).value()).value();
  const Schedule schedule = make_schedule({.graph = graph, .inference = inference}, {.join = join});
  std::vector<std::string> out;
  for (const Step& step : schedule.steps)
    for (const Kernel& kernel : step.kernels) out.push_back(kernel.label);
  return out;
}
using Labels = std::vector<std::string>;

TEST(SideBySide, JoinsKernelsThatReadTheSame) {
  const Graph graph = convolutions(
      {convolution("x", "p", false), model_node("Relu", {"p"}, "r"), convolution("r", "s", true),
       convolution("x", "q", true), model_node("MatMul", {"s", "q"}, "y")},
      {test::float_value("y", picture)});

  EXPECT_EQ(labels_of(graph, false), (Labels{"Conv+Relu", "Conv", "Conv", "MatMul"}));
  EXPECT_EQ(labels_of(graph, true), (Labels{"Conv+Relu | Conv", "Conv", "MatMul"}));
}

TEST(SideBySide, LeavesApartWhatNeedsEachOther) {
  const Graph graph = convolutions({convolution("x", "p", false), convolution("p", "y", true)},
                                   {test::float_value("y", picture)});

  EXPECT_EQ(labels_of(graph, true), (Labels{"Conv", "Conv"}));
}

// Both kernels write to the memory of the concatenation's result.
TEST(SideBySide, LeavesApartWhatIsWrittenToOneBuffer) {
  const Graph graph =
      convolutions({convolution("x", "p", false), convolution("x", "q", true),
                    model_node("Concat", {"p", "q"}, "j", {{"axis", std::int64_t{1}}})},
                   {test::float_value("j", {1, 16, 8, 8})});

  EXPECT_EQ(labels_of(graph, true), (Labels{"Conv", "Conv"}));
}

TEST(SideBySide, KeepsToTheBindingsOfAKernel) {
  const Graph graph =
      convolutions({convolution("x", "p", false), convolution("x", "q", true)},
                   {test::float_value("p", picture), test::float_value("q", picture)});
  const Inference inference = infer(graph, input_shapes(graph).value()).value();
  // One kernel binds x, weights, bias and result (4 buffers); two joined kernels share x and the
  // bias (6 buffers).
  for (const auto& [bindings, kernels] : {std::pair<std::size_t, std::size_t>{6, 1}, {5, 2}}) {
    const Schedule schedule =
        make_schedule({.graph = graph, .inference = inference}, {.bindings_max = bindings});
    EXPECT_EQ(schedule.steps.size(), kernels) << bindings;
  }
}

TEST(SideBySide, JoinsNoFunctionsThatDifferUnderOneName) {
  const auto kernel = [](std::string helper, std::string declarations) {
    KernelText text;
    text.output(0, ElementType::f32);
    text.helper(helper);
    return text.build_groups("k", 1, declarations, "");
  };
  const Kernel one = kernel("fn f() -> u32 { return 1u; }\n", ""),
               other = kernel("fn f() -> u32 { return 2u; }\n", ""),
               sums = kernel("", "var<workgroup> parts: array<f32, 64>;\n"),
               more = kernel("", "var<workgroup> parts: array<f32, 256>;\n"),
               third = kernel("", "var<workgroup> parts: array<f32, 64>;\nfn g() {}\n");
  const auto join = [](const Kernel& a, const Kernel& b) {
    return join_kernels(std::vector<const Kernel*>{&a, &b});
  };

  EXPECT_TRUE(join(one, one).has_value());
  EXPECT_FALSE(join(one, other).has_value());
  EXPECT_FALSE(join(sums, third).has_value());
  EXPECT_FALSE(join(third, sums).has_value());
  const auto joined = join(sums, more);
  ASSERT_TRUE(joined.has_value());
  EXPECT_TRUE(joined->wgsl.contains("array<f32, 256>"));
  EXPECT_FALSE(joined->wgsl.contains("array<f32, 64>"));
}

TEST(SideBySide, GivesWhatPlainLoopsGive) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const Graph graph = convolutions(
      {convolution("x", "p", false), convolution("x", "q", true), model_node("Sigmoid", {"q"}, "s"),
       model_node("MatMul", {"p", "s"}, "m"),
       model_node("MaxPool", {"x"}, "l", {{"kernel_shape", std::vector<std::int64_t>{2, 2}}})},
      {test::float_value("m", picture), test::float_value("l", {1, 8, 7, 7})});
  const Tensor input = numbers(picture);
  const auto expected = interpret(graph, {input}, {}).value();
  for (const bool halves : {false, true}) {
    if (halves && !test::gpu_machine().device->has("shader-f16")) continue;
    GpuModel model(*test::gpu_machine().device, graph, {.halves = halves});

    const auto outputs = test::run_now(model, {input});

    ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
    EXPECT_EQ(model.statistics().dispatches, 2u);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::int64_t k = 0; k < expected[i].count(); ++k)
        ASSERT_NEAR((*outputs)[i].number(k), expected[i].number(k), halves ? 0.05 : 1e-3)
            << "output " << i << ", element " << k;
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

}  // namespace
}  // namespace weft::onnx
