// Tests that convolutions with known weights, with shapes that do not fill a tile, equal plain
// loops.
#include "engine/onnx/gpu/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/gpu/convolution_rows.h"
#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using test::model_node;
using test::numbers;

struct Case {
  Shape input;
  Shape weights;
  std::int64_t group = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;
};

Model convolution_model(const Case& shape) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", shape.input)};
  ValueInfo output{.name = "y", .type = ElementType::f32, .shape = std::nullopt};
  model.outputs = {output};
  model.initializers = {{"w", numbers(shape.weights)}, {"b", numbers({shape.weights[0]})}};
  const auto rank = shape.input.size() - 2;
  using List = std::vector<std::int64_t>;
  model.nodes = {model_node("Conv", {"x", "w", "b"}, "c",
                            {{"group", shape.group},
                             {"strides", List(rank, shape.stride)},
                             {"dilations", List(rank, shape.dilation)},
                             {"pads", List(2 * rank, shape.pad)}}),
                 model_node("Relu", {"c"}, "y")};
  return model;
}

TEST(GpuConvolution, GivesWhatPlainLoopsGive) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const std::vector<Case> cases = {
      {.input = {1, 3, 17, 13}, .weights = {16, 3, 6, 6}, .stride = 2, .pad = 2},
      {.input = {1, 64, 5, 5}, .weights = {32, 64, 1, 1}},
      {.input = {2, 64, 7, 3}, .weights = {9, 64, 3, 3}, .pad = 1},
      {.input = {1, 130, 4, 4}, .weights = {7, 130, 1, 1}},
      {.input = {1, 8, 9, 9}, .weights = {8, 1, 3, 3}, .group = 8, .pad = 1},
      {.input = {1, 12, 8, 8}, .weights = {15, 4, 3, 3}, .group = 3, .pad = 1},
      {.input = {1, 16, 11, 11}, .weights = {8, 16, 3, 3}, .dilation = 3, .pad = 3},
      {.input = {3, 5, 21}, .weights = {6, 5, 4}, .stride = 3, .pad = 1},
      {.input = {1, 4, 3, 4, 5}, .weights = {8, 4, 2, 2, 2}},
      {.input = {1, 3, 70, 70}, .weights = {64, 3, 3, 3}, .pad = 1},
  };
  for (const Case& shape : cases) {
    const Graph graph = prepare(convolution_model(shape)).value();
    const Tensor input = numbers(shape.input);
    GpuModel model(*test::gpu_machine().device, graph, {});

    const auto outputs = test::run_now(model, {input});
    const auto expected = interpret(graph, {input}, {});

    const std::string what = to_string(shape.input) + " by " + to_string(shape.weights);
    ASSERT_TRUE(outputs.has_value()) << what << ": " << outputs.error().message;
    ASSERT_TRUE(expected.has_value()) << what;
    EXPECT_EQ(model.statistics().dispatches, 1u) << what;
    // The bound of sums of n products of at most 1 in another order: n * epsilon and a margin.
    const double tolerance = 1e-6 * static_cast<double>(element_count(shape.weights));
    ASSERT_EQ((*outputs)[0].shape(), (*expected)[0].shape()) << what;
    for (std::int64_t i = 0; i < (*expected)[0].count(); ++i)
      ASSERT_NEAR((*outputs)[0].number(i), (*expected)[0].number(i), tolerance) << what << " " << i;
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(ConvolutionTiles, LeaveEnoughThreadsForALargeGpu) {
  // The first layer of a model has enough places for all threads; a last layer shares its input
  // channels between threads.
  EXPECT_EQ(convolution_tiles(320 * 320, 3, 16),
            (ConvolutionTiles{.places = 4, .channels = 8, .slices = 1}));
  EXPECT_EQ(convolution_tiles(20 * 20, 256, 256),
            (ConvolutionTiles{.places = 1, .channels = 8, .slices = 8}));
  EXPECT_EQ(convolution_tiles(1, 16, 4).channels, 4);
}

class EachCut : public testing::TestWithParam<Case> {};

TEST_P(EachCut, GivesTheSameResult) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const Case& shape = GetParam();
  const Graph graph = prepare(convolution_model(shape)).value();
  const Tensor input = numbers(shape.input);
  const auto expected = interpret(graph, {input}, {}).value();
  const Inference inference = infer(graph, {input}).value();
  const KernelContext context{.graph = graph, .inference = inference};
  const CallOf call(context, graph.nodes[0]);
  const auto plan = plan_convolution(*call, call->input(0), call->input(1)).value();
  // Only one shape is tested with all tiles, and only a few tiles with rows, because pipelines
  // compile slowly on a software GPU.
  const std::vector<ConvolutionTiles> cuts =
      can_be_in_rows(plan)
          ? std::vector<ConvolutionTiles>{{.places = 4, .channels = 4, .slices = 1, .rows = true},
                                          {.places = 4, .channels = 16, .slices = 4, .rows = true},
                                          {.places = 8, .channels = 8, .slices = 2, .rows = true}}
          : convolution_candidates(plan);
  ASSERT_GE(cuts.size(), 3u);

  for (const ConvolutionTiles& tiles : cuts) {
    ASSERT_TRUE(can_be_cut(tiles));
    ConvolutionChoices choices;
    choices.set(ConvolutionChoices::key_of(plan), tiles);
    GpuModel model(*test::gpu_machine().device, graph,
                   {.choices = ConvolutionChoices::from_text(choices.to_text())});
    const auto outputs = test::run_now(model, {input});

    ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
    EXPECT_EQ(model.choices().find(ConvolutionChoices::key_of(plan)), tiles);
    for (std::int64_t i = 0; i < expected[0].count(); ++i)
      ASSERT_NEAR((*outputs)[0].number(i), expected[0].number(i), 1e-3)
          << tiles.places << " " << tiles.channels << " " << tiles.slices << " " << tiles.rows
          << " at " << i;
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, EachCut,
    testing::Values(Case{.input = {1, 18, 9, 7}, .weights = {17, 18, 3, 3}, .pad = 1},
                    Case{.input = {1, 18, 9, 8}, .weights = {17, 18, 3, 3}, .pad = 1},
                    Case{.input = {2, 12, 7, 12}, .weights = {15, 4, 3, 3}, .group = 3},
                    Case{.input = {1, 6, 11, 16}, .weights = {8, 6, 3, 3}, .stride = 2, .pad = 1},
                    Case{.input = {1, 3, 12, 20}, .weights = {16, 3, 6, 6}, .stride = 2, .pad = 2},
                    Case{.input = {2, 21, 6, 6}, .weights = {9, 21, 1, 1}},
                    Case{.input = {1, 5, 9, 12}, .weights = {8, 5, 1, 5}, .stride = 2}));

// The value that is added is the input itself, which a kernel with rows reads as vec4f.
TEST(ConvolutionChoices, CutIntoRowsWhereTheInputIsAddedToTheResult) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {1, 8, 6, 8})};
  model.outputs = {test::float_value("y", {1, 8, 6, 8})};
  model.initializers = {{"w", numbers({8, 8, 1, 1})}};
  model.nodes = {model_node("Conv", {"x", "w"}, "c"), model_node("Add", {"c", "x"}, "y")};
  const Graph graph = prepare(std::move(model)).value();
  const Tensor input = numbers({1, 8, 6, 8});
  const Inference inference = infer(graph, {input}).value();
  const CallOf call({.graph = graph, .inference = inference}, graph.nodes[0]);
  ConvolutionChoices choices;
  choices.set(
      ConvolutionChoices::key_of(plan_convolution(*call, call->input(0), call->input(1)).value()),
      {.places = 4, .channels = 8, .slices = 2, .rows = true});
  GpuModel on_gpu(*test::gpu_machine().device, graph, {.choices = choices});

  const auto outputs = test::run_now(on_gpu, {input});
  const auto expected = interpret(graph, {input}, {}).value();

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_EQ(on_gpu.statistics().dispatches, 1u);
  for (std::int64_t i = 0; i < expected[0].count(); ++i)
    ASSERT_NEAR((*outputs)[0].number(i), expected[0].number(i), 1e-4) << i;
}

TEST(ConvolutionChoices, AreMeasuredOnceForAShape) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const Case shape{.input = {1, 8, 6, 6}, .weights = {8, 8, 1, 1}};
  const Graph graph = prepare(convolution_model(shape)).value();
  GpuModel model(*test::gpu_machine().device, graph, {.measure_convolutions = true});

  const auto outputs = test::run_now(model, {numbers(shape.input)});

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  const std::string known = model.choices().to_text();
  EXPECT_EQ(std::ranges::count(known, '\n'), 1);
}

TEST(ConvolutionChoices, LeaveOutWhatTheyDoNotKnow) {
  const auto choices = ConvolutionChoices::from_text(
      "1 8 1 a\n1 8 1\nnonsense\n3 8 1 b\n1 5 1 c\n1 8 3 d\n64 8 1 e\n-1 8 1 f\n\n0 8 1 g\n4 8 1 "
      "rows "
      "h\n3 8 1 rows i");

  EXPECT_EQ(choices.to_text(), "1 8 1 a\n3 8 1 b\n4 8 1 rows h\n");
}

}  // namespace
}  // namespace weft::onnx
