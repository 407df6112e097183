// Tests that convolutions by subgroup matrices equal plain loops for all kinds of shapes, tiles and
// fused nodes, and that they are used only for values that are stored in 16 bits.
#include "engine/onnx/gpu/convolution_matrices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/long_tests.h"
#include "engine/onnx/gpu/convolution.h"
#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_model_jobs.h"

namespace weft::onnx {
namespace {

using test::model_node;

// Like test::gpu_machine(), with the features that only trusted shaders may use.
test::GpuMachine& machine() {
  static test::GpuMachine shared = [] {
    test::GpuMachine made;
    auto device =
        gpu::run(*made.instance,
                 made.instance->create_device({.label = "matrices", .trusted_shaders = true}));
    if (device) made.device = gpu::test::SharedPipelines::over(std::move(*device));
    return made;
  }();
  return shared;
}

// Returns numbers that are multiples of 1/64 between -1 and 1. 16 bits hold them exactly, and f32
// holds the sums of up to 4,096 of their products exactly, in any order.
Tensor sixty_fourths(Shape shape, std::size_t seed = 37) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>((i * seed + i / 129) % 129) - 64) / 64.0f;
  return Tensor::of<float>(std::move(shape), values);
}

struct MatrixCase {
  Shape input;
  Shape weights;
  ConvolutionTiles tiles;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::vector<std::int64_t> pads = {};  // Empty for no pads.
  std::string_view after = "";          // The fused nodes: "", "Relu", "SiLU" or "Add".
  bool half_input = true;               // The input is stored in 16 bits.
  bool half_output = false;
  bool bias = true;
};

// y = Neg?(after(Conv(Neg?(x)))). Values between two nodes are stored in 16 bits, inputs and
// outputs in 32 bits.
Graph graph_of(const MatrixCase& shape) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", shape.input)};
  model.outputs = {ValueInfo{.name = "y", .type = ElementType::f32, .shape = std::nullopt}};
  model.initializers = {{"w", sixty_fourths(shape.weights, 53)},
                        {"b", sixty_fourths({shape.weights[0]}, 11)}};
  const auto rank = shape.input.size() - 2;
  using List = std::vector<std::int64_t>;
  std::string from = "x";
  if (shape.half_input) {
    model.nodes.push_back(model_node("Neg", {"x"}, "n"));
    from = "n";
  }
  std::vector<std::string> inputs = {from, "w"};
  if (shape.bias) inputs.emplace_back("b");
  model.nodes.push_back(
      model_node("Conv", inputs, "c",
                 {{"strides", List(rank, shape.stride)},
                  {"dilations", List(rank, shape.dilation)},
                  {"pads", shape.pads.empty() ? List(2 * rank, 0) : shape.pads}}));
  std::string last = "c";
  if (shape.after == "Relu") model.nodes.push_back(model_node("Relu", {"c"}, last = "r"));
  if (shape.after == "Add") model.nodes.push_back(model_node("Add", {"c", from}, last = "r"));
  if (shape.after == "SiLU") {
    model.nodes.push_back(model_node("Sigmoid", {"c"}, "s"));
    model.nodes.push_back(model_node("Mul", {"c", "s"}, last = "r"));
  }
  // A transposition is not fused with a convolution.
  if (shape.half_output) model.nodes.push_back(model_node("Transpose", {last}, "y"));
  if (!shape.half_output) model.nodes.back().outputs = {"y"};
  return prepare(std::move(model)).value();
}

const Node& convolution_in(const Graph& graph) {
  return *std::ranges::find(graph.nodes, "Conv", &Node::op);
}

class Matrices : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(machine().device, nullptr) << "no GPU, not even a software one";
    if (!matrix_unit_of(*machine().device)) GTEST_SKIP() << "no f16 subgroup matrices";
  }
};

class ByMatrices : public Matrices, public testing::WithParamInterface<MatrixCase> {};

TEST_P(ByMatrices, GivesWhatPlainLoopsGive) {
  const MatrixCase& shape = GetParam();
  const Graph graph = graph_of(shape);
  const Tensor input = sixty_fourths(shape.input);
  const auto expected = interpret(graph, {input}, {}).value();
  const Inference inference = infer(graph, {input.without_bytes()}).value();
  const MatrixUnit unit = *matrix_unit_of(*machine().device);
  ConvolutionChoices choices;
  const KernelContext context{.graph = graph,
                              .inference = inference,
                              .choices = &choices,
                              .halves = true,
                              .matrices = &unit};
  const CallOf call(context, convolution_in(graph));
  const auto plan = plan_convolution(*call, call->input(0), call->input(1)).value();
  choices.set(ConvolutionChoices::key_of(plan, true), shape.tiles);
  const auto kernels = convolution_kernels(context, convolution_in(graph), *call, {});
  ASSERT_TRUE(kernels.has_value());
  ASSERT_TRUE(kernels->front().parts->team.matrices) << "the tiles do not fit this device";
  GpuModel model(*machine().device, graph, {.halves = true, .choices = choices});

  const auto outputs = gpu::run(*machine().instance, model.run({input}));

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_EQ(model.statistics().dispatches,
            1u + (shape.half_input ? 1 : 0) + (shape.half_output ? 1 : 0));
  ASSERT_EQ((*outputs)[0].shape(), expected[0].shape());
  // The error bound: a result of 16 bits has a relative error of 2^-11; without it, another exp()
  // may differ by 1e-6.
  const double relative = shape.half_output ? 1.0 / 2048 : 1e-6;
  for (std::int64_t i = 0; i < expected[0].count(); ++i)
    ASSERT_NEAR((*outputs)[0].number(i), expected[0].number(i),
                1e-5 + relative * std::abs(expected[0].number(i)))
        << i;
  EXPECT_TRUE(machine().device->uncaptured_errors().empty());
}

ConvolutionTiles tiles(std::int64_t channels, std::int64_t places, std::int64_t slices,
                       std::int64_t depth) {
  return {.places = places, .channels = channels, .slices = slices, .depth = depth};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ByMatrices,
    testing::Values(
        // The channels and places fill no tile, and there are several images.
        MatrixCase{.input = {2, 18, 9, 7},
                   .weights = {17, 18, 3, 3},
                   .tiles = tiles(16, 16, 2, 32),
                   .pads = {1, 1, 1, 1},
                   .after = "Relu"},
        // The tiles are whole, all terms fit into one step, and the result has 16 bits.
        MatrixCase{.input = {1, 32, 4, 8},
                   .weights = {16, 32, 1, 1},
                   .tiles = tiles(16, 16, 2, 32),
                   .after = "SiLU",
                   .half_output = true},
        // Places are read in fours and fill no tile, channels fill no step, and an input is added.
        MatrixCase{.input = {2, 21, 6, 6},
                   .weights = {21, 21, 1, 1},
                   .tiles = tiles(16, 16, 1, 16),
                   .after = "Add"},
        // Places in fours that fill no tile, an input of 32 bits, no bias.
        MatrixCase{.input = {1, 21, 6, 6},
                   .weights = {5, 21, 1, 1},
                   .tiles = tiles(16, 16, 1, 16),
                   .half_input = false,
                   .bias = false},
        // There are few channels, an input of 32 bits, and uneven pads.
        MatrixCase{.input = {1, 3, 17, 13},
                   .weights = {16, 3, 6, 6},
                   .tiles = tiles(16, 16, 4, 64),
                   .stride = 2,
                   .pads = {2, 1, 0, 3},
                   .after = "SiLU",
                   .half_input = false},
        MatrixCase{.input = {1, 16, 11, 11},
                   .weights = {8, 16, 3, 3},
                   .tiles = tiles(16, 32, 2, 32),
                   .dilation = 3,
                   .pads = {3, 3, 3, 3},
                   .half_output = true},
        MatrixCase{.input = {1, 20, 16, 10},
                   .weights = {40, 20, 3, 2},
                   .tiles = tiles(32, 16, 1, 16),
                   .stride = 3,
                   .pads = {0, 1, 1, 0},
                   .after = "Relu"},
        // The tile has several subgroups beside each other.
        MatrixCase{
            .input = {1, 16, 8, 16}, .weights = {64, 16, 1, 1}, .tiles = tiles(64, 64, 1, 16)},
        // The convolutions have one and three dimensions, and a 1x1 kernel with a stride.
        MatrixCase{.input = {3, 5, 21},
                   .weights = {6, 5, 4},
                   .tiles = tiles(16, 16, 1, 32),
                   .stride = 3,
                   .pads = {1, 1}},
        MatrixCase{
            .input = {1, 4, 3, 4, 5}, .weights = {8, 4, 2, 2, 2}, .tiles = tiles(16, 16, 2, 32)},
        MatrixCase{.input = {1, 16, 7, 7},
                   .weights = {16, 16, 1, 1},
                   .tiles = tiles(16, 16, 1, 16),
                   .stride = 2}));

MatrixCase plain_case() {
  return {.input = {1, 16, 4, 4}, .weights = {16, 16, 1, 1}, .tiles = tiles(16, 16, 1, 16)};
}
std::string key_in(const Graph& graph, const Tensor& input, bool halves) {
  const Inference inference = infer(graph, {input.without_bytes()}).value();
  const CallOf call({.graph = graph, .inference = inference}, convolution_in(graph));
  return ConvolutionChoices::key_of(plan_convolution(*call, call->input(0), call->input(1)).value(),
                                    halves);
}

TEST_F(Matrices, AreNotUsedForValuesOf32Bits) {
  MatrixCase shape = plain_case();
  shape.half_input = false;
  const Graph graph = graph_of(shape);
  const Tensor input = test::numbers(shape.input);  // 16 bits cannot hold these numbers.
  ConvolutionChoices choices;
  choices.set(key_in(graph, input, false), shape.tiles);
  choices.set(key_in(graph, input, true), shape.tiles);
  GpuModel model(*machine().device, graph, {.choices = choices});

  const auto outputs = gpu::run(*machine().instance, model.run({input}));

  const auto expected = interpret(graph, {input}, {}).value();
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  for (std::int64_t i = 0; i < expected[0].count(); ++i)
    ASSERT_NEAR((*outputs)[0].number(i), expected[0].number(i), 1e-5) << i;
}

TEST_F(Matrices, AreNotUsedForWeightsThat16BitsCannotHold) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {1, 16, 4, 4})};
  model.outputs = {test::float_value("y", {1, 16, 4, 4})};
  Tensor weights = sixty_fourths({16, 16, 1, 1});
  weights.mutable_values<float>()[5] = 1e6f;
  model.initializers = {{"w", weights}};
  model.nodes = {model_node("Conv", {"x", "w"}, "y")};
  const Graph graph = prepare(std::move(model)).value();
  const Tensor input = sixty_fourths({1, 16, 4, 4});
  ConvolutionChoices choices;
  choices.set(key_in(graph, input, true), tiles(16, 16, 1, 16));
  GpuModel on_gpu(*machine().device, graph, {.halves = true, .choices = choices});

  const auto outputs = gpu::run(*machine().instance, on_gpu.run({input}));

  const auto expected = interpret(graph, {input}, {}).value();
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  for (std::int64_t i = 0; i < expected[0].count(); ++i)
    ASSERT_NEAR((*outputs)[0].number(i), expected[0].number(i),
                1e-5 + 1e-6 * std::abs(expected[0].number(i)))
        << i;
}

// A stored choice may come from another device.
TEST_F(Matrices, AreNotUsedIfAWorkgroupDoesNotFitTheDevice) {
  const MatrixCase shape = plain_case();
  const Graph graph = graph_of(shape);
  const Tensor input = sixty_fourths(shape.input);
  ConvolutionChoices choices;
  choices.set(key_in(graph, input, true), tiles(128, 128, 8, 512));
  GpuModel model(*machine().device, graph, {.halves = true, .choices = choices});

  const auto outputs = gpu::run(*machine().instance, model.run({input}));

  const auto expected = interpret(graph, {input}, {}).value();
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  for (std::int64_t i = 0; i < expected[0].count(); ++i)
    ASSERT_NEAR((*outputs)[0].number(i), expected[0].number(i), 1e-5) << i;
}

// Two convolutions of one input have one dispatch, with the larger memory of the two, if they have
// the same number of threads; a third one with fewer threads has a dispatch of its own.
TEST_F(Matrices, RunSideBySide) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {1, 16, 4, 4})};
  model.outputs = {test::float_value("u", {1, 4, 4, 4}), test::float_value("v", {1, 8, 4, 4}),
                   test::float_value("w", {1, 16, 4, 4})};
  model.initializers = {{"wu", sixty_fourths({4, 16, 1, 1}, 53)},
                        {"wv", sixty_fourths({8, 16, 1, 1}, 71)},
                        {"ww", sixty_fourths({16, 16, 1, 1}, 29)}};
  model.nodes = {model_node("Neg", {"x"}, "n"), model_node("Conv", {"n", "wu"}, "u"),
                 model_node("Conv", {"n", "wv"}, "v"), model_node("Conv", {"n", "ww"}, "w")};
  const Graph graph = prepare(std::move(model)).value();
  const Tensor input = sixty_fourths({1, 16, 4, 4});
  const Inference inference = infer(graph, {input.without_bytes()}).value();
  ConvolutionChoices choices;
  for (const Node& node : graph.nodes) {
    if (node.op != "Conv") continue;
    const CallOf call({.graph = graph, .inference = inference}, node);
    const auto plan = plan_convolution(*call, call->input(0), call->input(1)).value();
    choices.set(ConvolutionChoices::key_of(plan, true),
                plan.channels_out == 4   ? tiles(16, 16, 1, 16)
                : plan.channels_out == 8 ? tiles(16, 16, 2, 32)
                                         : tiles(16, 16, 2, 128));
  }
  GpuModel on_gpu(*machine().device, graph, {.halves = true, .choices = choices});

  const auto outputs = gpu::run(*machine().instance, on_gpu.run({input}));

  const auto expected = interpret(graph, {input}, {}).value();
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_EQ(on_gpu.statistics().dispatches, 3u);
  for (std::size_t output = 0; output < 3; ++output)
    for (std::int64_t i = 0; i < expected[output].count(); ++i)
      ASSERT_NEAR((*outputs)[output].number(i), expected[output].number(i), 1e-5) << i;
  EXPECT_TRUE(machine().device->uncaptured_errors().empty());
}

// All convolutions of YOLOv5n, with outputs that onnxruntime computed.
TEST_F(Matrices, GiveTheOutputsOfAWholeModel) {
  if (machine().device->adapter().kind == gpu::AdapterKind::cpu && !weft::test::long_tests())
    GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  const auto path = test::find_data("data/models/yolov5n-bus.json");
  if (!path) GTEST_SKIP() << test::missing_data("data/models/yolov5n-bus.json");
  const test::ModelJob job = test::read_job(*path).value();
  const std::filesystem::path folder = path->parent_path();
  const Graph graph = prepare(open_model_file(folder / job.model).value()).value();
  const Tensor input = test::picture_tensor(job, folder / "yolov5n-bus.png");
  const Inference inference = infer(graph, {input.without_bytes()}).value();
  const MatrixUnit unit = *matrix_unit_of(*machine().device);
  ConvolutionChoices choices;
  for (const Node& node : graph.nodes) {
    if (node.op != "Conv") continue;
    const CallOf call({.graph = graph, .inference = inference}, node);
    const auto plan = plan_convolution(*call, call->input(0), call->input(1)).value();
    ASSERT_TRUE(can_be_in_matrices(plan, unit, tiles(16, 16, 2, 32)));
    choices.set(ConvolutionChoices::key_of(plan, true), tiles(16, 16, 2, 32));
  }
  GpuModel model(*machine().device, graph, {.halves = true, .choices = choices});

  const auto outputs = gpu::run(*machine().instance, model.run({input}));

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  const std::string bytes = test::unzip(folder / job.outputs[0].file);
  const Tensor expected =
      Tensor::from_bytes(ElementType::f32, job.outputs[0].shape, {bytes.begin(), bytes.end()})
          .value();
  double error = 0, length = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    error += std::pow((*outputs)[0].number(i) - expected.number(i), 2);
    length += std::pow(expected.number(i), 2);
  }
  // The bound that GpuModels (gpu_models_test.cpp) has for floats that are stored in 16 bits.
  EXPECT_LE(std::sqrt(error / length), 5e-3);
  EXPECT_TRUE(machine().device->uncaptured_errors().empty());
}

// A large GPU with the matrices of tensor cores.
MatrixUnit large_unit() {
  return {.m = 16, .n = 16, .k = 16, .subgroup = 32, .threads_max = 1024, .bytes_max = 49152};
}
ConvolutionPlan plan_of(std::int64_t channels, std::int64_t out, std::int64_t side,
                        std::int64_t kernel, std::int64_t groups = 1) {
  ConvolutionPlan plan;
  plan.window = {.kernel = {kernel, kernel},
                 .strides = {1, 1},
                 .dilations = {1, 1},
                 .pads_before = {kernel / 2, kernel / 2},
                 .pads_after = {kernel / 2, kernel / 2},
                 .input = {side, side},
                 .output = {side, side}};
  plan.batch = 1;
  plan.groups = groups;
  plan.channels_in = channels;
  plan.channels_out = out;
  plan.output = {1, groups * out, side, side};
  return plan;
}

TEST(MatrixCandidates, FitTheDeviceAndTheConvolution) {
  for (const auto& plan :
       {plan_of(16, 16, 160, 3), plan_of(128, 128, 20, 3), plan_of(64, 255, 80, 1),
        plan_of(512, 256, 20, 1), plan_of(3, 16, 320, 6)}) {
    const auto candidates = matrix_candidates(plan, large_unit());
    EXPECT_GE(candidates.size(), 2u);
    EXPECT_LE(candidates.size(), 25u);
    for (const ConvolutionTiles& tiles : candidates) {
      EXPECT_TRUE(can_be_cut(tiles));
      EXPECT_TRUE(can_be_in_matrices(plan, large_unit(), tiles));
    }
  }
  MatrixUnit small = large_unit();
  small.bytes_max = 1024;
  EXPECT_TRUE(matrix_candidates(plan_of(64, 64, 80, 3), small).empty());
  EXPECT_TRUE(matrix_candidates(plan_of(4, 4, 80, 3, 8), large_unit()).empty());
}

TEST(MatrixCandidates, AreOnlyForDevicesWithMatrices) {
  const auto plan = plan_of(64, 64, 80, 3);
  const auto has_matrices = [](const ConvolutionTiles& tiles) { return tiles.depth > 0; };
  const MatrixUnit unit = large_unit();

  EXPECT_FALSE(std::ranges::any_of(convolution_candidates(plan), has_matrices));
  EXPECT_TRUE(std::ranges::any_of(convolution_candidates(plan, &unit), has_matrices));
}

TEST(MatrixChoices, AreReadAndWritten) {
  const auto choices = ConvolutionChoices::from_text(
      "32 16 4 matrices 128 a\n24 16 1 matrices 32 b\n16 16 3 matrices 48 c\n"
      "16 16 4 matrices 32 d\n16 16 1 matrices 0 e\n16 16 1 matrices -16 f\n"
      "16 16 1 matrices g\n16 16 1 matrices 1024 h\n");

  EXPECT_EQ(choices.to_text(), "32 16 4 matrices 128 a\n");
  EXPECT_EQ(choices.find("a"), tiles(16, 32, 4, 128));
}

}  // namespace
}  // namespace weft::onnx
