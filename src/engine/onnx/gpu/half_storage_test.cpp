// Tests floats stored in 16 bits: kernels of every kind read and write them, values that must keep
// their bits keep them, and results equal those of 32 bits within the rounding to 11 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "common/base/long_tests.h"
#include "engine/onnx/gpu/stored_kernel.h"
#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/cut.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_cases.h"

namespace weft::onnx {
namespace {

using test::model_node;
using test::numbers;

std::vector<std::uint32_t> float_words(const std::vector<float>& values) {
  std::vector<std::uint32_t> out;
  for (const float value : values) out.push_back(std::bit_cast<std::uint32_t>(value));
  return out;
}

TEST(StoredKernels, WidenWhatIsReadAndRoundWhatIsWritten) {
  const auto weights =
      std::make_shared<const std::vector<std::uint32_t>>(float_words({1, 2, 0.5f, -4}));
  Kernel kernel{
      .label = "",
      .wgsl =
          "@group(0) @binding(0) var<storage, read> a0: array<f32>;\n"
          "@group(0) @binding(1) var<storage, read> a1: array<u32>;\n"
          "@group(0) @binding(2) var<storage, read> a2: array<vec4f>;\n"
          "@group(0) @binding(3) var<storage, read> a3: array<f32>;\n"
          "@group(0) @binding(4) var<storage, read_write> y0: array<f32>;\n"
          "  if (a0[i] == 2.0) { y0[a1[i]] = a0[a1[i] + 1u] * a2[i][3] + a3[i]; }\n"
          "  let a0b = y0[i];\n",
      .inputs = {{.value = 0}, {.value = 1}, {.value = no_value, .data = weights}, {.value = 2}},
      .outputs = {3},
      .workgroups = {}};
  const std::vector<bool> half = {true, true, false, true};

  const std::vector<Apart> apart = {{}, {}, {}, {.block = 8, .pitch = 20}};
  const std::vector<std::uint64_t> offsets = {0, 0, 0, 4};
  StoredKernels(half, apart, offsets).change(kernel);

  EXPECT_EQ(kernel.wgsl,
            "enable f16;\n"
            "fn place_of_y0(i: u32) -> u32 { return i / 8u * 20u + i % 8u + 4u; }\n"
            "@group(0) @binding(0) var<storage, read> a0: array<f16>;\n"
            "@group(0) @binding(1) var<storage, read> a1: array<u32>;\n"
            "@group(0) @binding(2) var<storage, read> a2: array<vec4<f16>>;\n"
            "@group(0) @binding(3) var<storage, read> a3: array<f32>;\n"
            "@group(0) @binding(4) var<storage, read_write> y0: array<f16>;\n"
            "  if (f32(a0[i]) == 2.0) { y0[place_of_y0(a1[i])] = f16(clamp( f32(a0[a1[i] + 1u]) * "
            "vec4f(a2[i])[3] + a3[i], -65504.0, 65504.0)); }\n"
            "  let a0b = f32(y0[place_of_y0(i)]);\n");
  EXPECT_EQ(*kernel.inputs[2].data, (std::vector<std::uint32_t>{0x40003c00, 0xc4003800}));
}

// If a kernel computes with factors of 16 bits, elements that are stored in 16 bits are not
// widened. Directives stay before functions.
TEST(StoredKernels, DoNotWidenWhatAKernelReadsIn16Bits) {
  Kernel kernel{.label = "",
                .wgsl =
                    "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n"
                    "@group(0) @binding(0) var<storage, read> a0: array<f32>;\n"
                    "@group(0) @binding(1) var<storage, read> a1: array<vec4f>;\n"
                    "@group(0) @binding(2) var<storage, read> a2: array<f32>;\n"
                    "@group(0) @binding(3) var<storage, read> a3: array<f16>;\n"
                    "@group(0) @binding(4) var<storage, read_write> y0: array<f32>;\n"
                    "  let v = f16_of(a0[i]); let w = f16_of4(a1[i]); let x = f16_of(a2[i]);\n"
                    "  y0[i] = 1.0;\n",
                .inputs = {{.value = 0},
                           {.value = 0},
                           {.value = 1},
                           {.value = no_value,
                            .data = std::make_shared<const std::vector<std::uint32_t>>(
                                std::vector<std::uint32_t>{0x3c003c00})}},
                .outputs = {2},
                .workgroups = {}};

  const std::vector<bool> half = {true, false, true};
  const std::vector<Apart> apart = {{}, {}, {.block = 8, .pitch = 20}};
  const std::vector<std::uint64_t> offsets = {0, 0, 4};
  StoredKernels(half, apart, offsets).change(kernel);

  EXPECT_EQ(kernel.wgsl,
            "enable f16;\nenable subgroups;\ndiagnostic(off, subgroup_uniformity);\n"
            "fn place_of_y0(i: u32) -> u32 { return i / 8u * 20u + i % 8u + 4u; }\n"
            "@group(0) @binding(0) var<storage, read> a0: array<f16>;\n"
            "@group(0) @binding(1) var<storage, read> a1: array<vec4<f16>>;\n"
            "@group(0) @binding(2) var<storage, read> a2: array<f32>;\n"
            "@group(0) @binding(3) var<storage, read> a3: array<f16>;\n"
            "@group(0) @binding(4) var<storage, read_write> y0: array<f16>;\n"
            "  let v = f16((a0[i])); let w = vec4<f16>((a1[i])); let x = f16_of(a2[i]);\n"
            "  y0[place_of_y0(i)] = f16(clamp( 1.0, -65504.0, 65504.0));\n");
  EXPECT_EQ(*kernel.inputs[3].data, (std::vector<std::uint32_t>{0x3c003c00}));
}

TEST(StoredKernels, KeepWhat16BitsDoNotHold) {
  EXPECT_FALSE(halves_of(float_words({1, 65505})).has_value());
  EXPECT_FALSE(halves_of(float_words({-std::numeric_limits<float>::infinity()})).has_value());
  EXPECT_FALSE(halves_of(float_words({std::numeric_limits<float>::quiet_NaN()})).has_value());
  EXPECT_EQ(bounded_halves_of(float_words({1e9f, -1e9f, 1})),
            (std::vector<std::uint32_t>{0xfbff7bff, 0x3c00}));
  EXPECT_EQ(floats_of(std::vector<std::uint32_t>{0xfbff7bff, 0x3c00}, 3),
            float_words({65504, -65504, 1}));
}

class HalfStorage : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
    if (!test::gpu_machine().device->has("shader-f16")) GTEST_SKIP() << "no shader-f16";
  }
};

// A graph with convolutions of each kind, a pyramid of pooling and resizing, concatenations, a
// product and a softmax.
Graph mixed_graph() {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {1, 3, 16, 16})};
  model.outputs = {test::float_value("y", {1, 48}), test::float_value("j", {1, 32, 16, 16})};
  using List = std::vector<std::int64_t>;
  const float scales[] = {1, 1, 2, 2};
  const std::int64_t flat[] = {1, 4096};
  model.initializers = {{"w1", numbers({16, 3, 3, 3})},
                        {"b1", numbers({16})},
                        {"w2", numbers({16, 1, 3, 3})},
                        {"w3", numbers({16, 16, 1, 1})},
                        {"w4", numbers({4096, 48})},
                        {"scales", Tensor::of<float>({4}, scales)},
                        {"flat", Tensor::of<std::int64_t>({2}, flat)}};
  model.nodes = {
      model_node("Conv", {"x", "w1", "b1"}, "c1", {{"pads", List{1, 1, 1, 1}}}),
      model_node("Sigmoid", {"c1"}, "s1"),
      model_node("Mul", {"c1", "s1"}, "m1"),
      model_node("Conv", {"m1", "w2"}, "c2",
                 {{"pads", List{1, 1, 1, 1}}, {"group", std::int64_t{16}}}),
      model_node("MaxPool", {"c2"}, "p", {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}}),
      model_node("Conv", {"p", "w3"}, "c3"),
      model_node("Resize", {"c3", "", "scales"}, "r", {{"mode", std::string("nearest")}}),
      model_node("Concat", {"r", "m1"}, "j", {{"axis", std::int64_t{1}}}),
      model_node("Reshape", {"r", "flat"}, "f"),
      model_node("MatMul", {"f", "w4"}, "d"),
      model_node("Softmax", {"d"}, "y")};
  return prepare(std::move(model)).value();
}

double error_of(const Tensor& got, const Tensor& expected) {
  double error = 0, length = 0;
  for (std::int64_t k = 0; k < expected.count(); ++k) {
    error += std::pow(got.number(k) - expected.number(k), 2);
    length += std::pow(expected.number(k), 2);
  }
  return std::sqrt(error / std::max(length, 1e-30));
}

TEST_F(HalfStorage, GivesWhat32BitsGiveWithinItsRoundingInLessMemory) {
  const Graph graph = mixed_graph();
  const Tensor input = numbers({1, 3, 16, 16});
  for (const bool fuse : {true, false}) {
    GpuModel full(*test::gpu_machine().device, graph, {.fuse = fuse});
    GpuModel half(*test::gpu_machine().device, graph, {.fuse = fuse, .halves = true});
    const auto expected = test::run_now(full, {input});
    const auto outputs = test::run_now(half, {input});

    ASSERT_TRUE(expected.has_value() && outputs.has_value()) << outputs.error().message;
    // The bound allows for about ten roundings of 2^-12 each; softmax turns absolute errors of its
    // input into relative errors.
    EXPECT_LE(error_of((*outputs)[1], (*expected)[1]), 1e-3);
    EXPECT_GT(error_of((*outputs)[1], (*expected)[1]), 1e-6) << "nothing was rounded";
    EXPECT_LE(error_of((*outputs)[0], (*expected)[0]), 0.05);
    EXPECT_LT(half.statistics().unshared_bytes, full.statistics().unshared_bytes);
    EXPECT_EQ(half.statistics().dispatches, full.statistics().dispatches);
    EXPECT_EQ(half.statistics().nodes_on_processor, 0u);
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

// Values that one device hands to another have 32 bits on both devices.
TEST_F(HalfStorage, GivesTheSameBitsInPartsAndWithABarrier) {
  const Graph graph = mixed_graph();
  const Tensor input = numbers({1, 3, 16, 16});
  const Inference inference = infer(graph, {input.without_bytes()}).value();
  for (std::size_t place = 1; place < graph.nodes.size(); ++place) {
    GpuModel barred(*test::gpu_machine().device, graph, {.halves = true, .barrier = place});
    const auto expected = test::run_now(barred, {input});
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    std::map<ValueId, Tensor> values = {{graph.input_ids[0], input}};
    for (const auto& [first, last] :
         {std::pair(std::size_t{0}, place), {place, graph.nodes.size()}}) {
      const Part part = part_of(graph, inference, first, last);
      std::vector<Tensor> inputs;
      for (const ValueId id : part.inputs) inputs.push_back(values.at(id));
      GpuModel model(*test::gpu_machine().device, part.graph, {.halves = true});
      const auto outputs = test::run_now(model, std::move(inputs));
      ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
      for (std::size_t i = 0; i < part.outputs.size(); ++i) values[part.outputs[i]] = (*outputs)[i];
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(values.at(graph.outputs[i]).bytes(), (*expected)[i].bytes()))
          << "output " << i << ", cut before node " << place;
  }
}

TEST_F(HalfStorage, StoresWhatIsTooLargeAsTheLargest) {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {4})};
  model.outputs = {test::float_value("y", {4})};
  model.nodes = {model_node("Neg", {"x"}, "n"), model_node("Neg", {"n"}, "y")};
  const float numbers[] = {1e9f, -1e9f, 65504, 0.5f};
  GpuModel half(*test::gpu_machine().device, prepare(std::move(model)).value(),
                {.fuse = false, .halves = true});

  const auto outputs = test::run_now(half, {Tensor::of<float>({4}, numbers)});

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_EQ(std::vector<float>((*outputs)[0].values<float>().begin(),
                               (*outputs)[0].values<float>().end()),
            (std::vector<float>{65504, -65504, 65504, 0.5f}));
}

// A case with a negation before and after its node, so that the node's floats are stored in 16 bits
// on both sides.
struct NegatedCase {
  Model model;
  std::vector<Tensor> inputs;
};
void negate(Tensor& tensor) {
  for (float& value : tensor.mutable_values<float>()) value = -value;
}
std::optional<NegatedCase> negated(const test::NodeCase& found) {
  auto model = read_model(weft::as_bytes(found.model));
  if (!model || model->opset < 13) return std::nullopt;
  NegatedCase out{.model = std::move(*model), .inputs = {}};
  std::map<std::string, std::string> names;
  std::vector<ModelNode> before;
  for (std::size_t i = 0; i < found.inputs.size(); ++i) {
    auto input = read_tensor(weft::as_bytes(found.inputs[i]));
    if (!input) return std::nullopt;
    if (input->tensor.type() == ElementType::f32) {
      const std::string& name = out.model.inputs[i].name;
      names[name] = name + " negated";
      before.push_back(model_node("Neg", {name}, names[name]));
      negate(input->tensor);
    }
    out.inputs.push_back(std::move(input->tensor));
  }
  for (ModelNode& node : out.model.nodes)
    for (std::string& name : node.inputs)
      if (const auto other = names.find(name); other != names.end()) name = other->second;
  out.model.nodes.insert(out.model.nodes.begin(), before.begin(), before.end());
  for (ValueInfo& output : out.model.outputs) {
    if (output.type != ElementType::f32) continue;
    out.model.nodes.push_back(model_node("Neg", {output.name}, output.name + " negated"));
    output.name += " negated";
  }
  return out;
}

TEST_F(HalfStorage, IsReadAndWrittenByTheKernelsOfEveryOperator) {
  const auto path = test::find_data("data/onnx-node/onnx-node.tar.gz");
  if (!path) GTEST_SKIP() << test::missing_data("data/onnx-node/onnx-node.tar.gz");
  std::vector<test::NodeCase> cases = test::read_cases(test::read_archive(*path));
  std::mt19937 random(29);
  std::ranges::shuffle(cases, random);
  std::set<std::string> seen;
  std::size_t compared = 0;
  for (const test::NodeCase& found : cases) {
    auto made = negated(found);
    if (!made) continue;
    std::string op;
    for (const ModelNode& node : made->model.nodes)
      if (node.op != "Neg") op = node.op;
    if (!weft::test::long_tests() && !seen.insert(op).second) continue;
    Graph graph = prepare(std::move(made->model)).value();
    GpuModel full(*test::gpu_machine().device, graph, {.fuse = false});
    GpuModel half(*test::gpu_machine().device, graph, {.fuse = false, .halves = true});
    const auto expected = test::run_now(full, made->inputs);
    const auto outputs = test::run_now(half, made->inputs);

    ASSERT_TRUE(expected.has_value()) << found.name << ": " << expected.error().message;
    ASSERT_TRUE(outputs.has_value()) << found.name << ": " << outputs.error().message;
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      const Tensor &got = (*outputs)[i], &wanted = (*expected)[i];
      ASSERT_EQ(got.type(), wanted.type()) << found.name;
      if (wanted.type() != ElementType::f32 || got.shape() != wanted.shape()) continue;
      double largest = 0;
      for (std::int64_t k = 0; k < wanted.count(); ++k)
        if (std::isfinite(wanted.number(k)) && std::abs(wanted.number(k)) <= half_max)
          largest = std::max(largest, std::abs(wanted.number(k)));
      // Integers that are computed from rounded floats may jump, so only the run of the kernels is
      // checked.
      double error = 0, length = 1e-12;
      for (std::int64_t k = 0; k < wanted.count(); ++k) {
        if (!std::isfinite(wanted.number(k)) || std::abs(wanted.number(k)) > half_max) continue;
        error += std::pow(got.number(k) - wanted.number(k), 2);
        length += std::pow(wanted.number(k), 2);
      }
      const double relative = std::sqrt(error / length);
      if (relative > 0.02) {
        for (std::int64_t k = 0; k < std::min<std::int64_t>(12, wanted.count()); ++k)
          std::printf("%g/%g ", got.number(k), wanted.number(k));
        std::printf("%s (%s): output %zu differs by %.3g\n", found.name.c_str(), op.c_str(), i,
                    relative);
      }
      EXPECT_LE(relative, 0.6) << found.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 60u);
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(HalfStorageWithoutTheFeature, IsRefused) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const auto device = gpu::run(
      *test::gpu_machine().instance,
      test::gpu_machine().instance->create_device({.features = std::vector<std::string>()}));
  ASSERT_TRUE(device.has_value()) << device.error().message;
  GpuModel model(**device, mixed_graph(), {.halves = true});

  const auto outputs = test::run_now(model, {numbers({1, 3, 16, 16})});

  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace weft::onnx
