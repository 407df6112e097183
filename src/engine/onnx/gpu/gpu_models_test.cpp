// Tests whole models on a GPU: without fusion every node gives the result that onnxruntime
// computed; with fusion the outputs are equal within rounding, with fewer dispatches and one
// submit.
#include <gtest/gtest.h>

#include <random>

#include "common/base/long_tests.h"
#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/cut.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_model_jobs.h"

namespace weft::onnx {
namespace {

struct LoadedJob {
  test::ModelJob job;
  std::filesystem::path folder;
  Model model;
  Tensor input;
};
std::optional<LoadedJob> load_job(const std::string& name) {
  const auto path = test::find_data("data/models/" + name + ".json");
  if (!path) return std::nullopt;
  LoadedJob out;
  out.job = test::read_job(*path).value();
  out.folder = path->parent_path();
  out.model = open_model_file(out.folder / out.job.model).value();
  out.input = test::picture_tensor(out.job, out.folder / (name + ".png"));
  return out;
}

double relative_error(const Tensor& got, const Tensor& expected) {
  double error = 0, length = 0;
  for (std::int64_t k = 0; k < expected.count(); ++k) {
    error += std::pow(got.number(k) - expected.number(k), 2);
    length += std::pow(expected.number(k), 2);
  }
  return std::sqrt(error / std::max(length, 1e-30));
}

class GpuModels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
    if (std::string(GetParam()) != "mnist-pelican" && !weft::test::long_tests())
      GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  }
};

TEST_P(GpuModels, EveryNodeGivesWhatIsExpectedOfItUnfused) {
  auto loaded = load_job(GetParam());
  if (!loaded) GTEST_SKIP() << test::missing_data(std::string("data/models/") + GetParam());
  Graph graph = prepare(std::move(loaded->model), {.fold = false, .keep_unused = true}).value();
  std::map<std::string, const test::ExpectedNode*> expected;
  for (const test::ExpectedNode& node : loaded->job.nodes) expected[node.output] = &node;
  GpuModel model(*test::gpu_machine().device, graph, {.fuse = false, .keep_all = true});
  std::size_t seen = 0;

  const auto outputs =
      test::run_now(model, {loaded->input}, [&](const Node& node, ValueId id, const Tensor& value) {
        const auto found = expected.find(graph.name(id));
        if (found == expected.end()) return;
        ++seen;
        const std::string difference = test::node_difference(value, *found->second, 1e-4);
        EXPECT_TRUE(difference.empty()) << node.name << " (" << node.op << ") " << difference;
      });

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_EQ(seen, expected.size());
  EXPECT_EQ(model.statistics().nodes_on_processor, 0u);
}

TEST_P(GpuModels, EveryTensorThatSurvivesFusionIsWhatIsExpected) {
  auto loaded = load_job(GetParam());
  if (!loaded) GTEST_SKIP() << test::missing_data(std::string("data/models/") + GetParam());
  const Graph graph = prepare(std::move(loaded->model)).value();
  std::map<std::string, const test::ExpectedNode*> expected;
  for (const test::ExpectedNode& node : loaded->job.nodes) expected[node.output] = &node;
  GpuModel model(*test::gpu_machine().device, graph, {.keep_all = true});
  std::size_t seen = 0;

  const auto outputs =
      test::run_now(model, {loaded->input}, [&](const Node& node, ValueId id, const Tensor& value) {
        const auto found = expected.find(graph.name(id));
        if (found == expected.end()) return;
        ++seen;
        const std::string difference = test::node_difference(value, *found->second, 1e-4);
        EXPECT_TRUE(difference.empty()) << node.name << " (" << node.op << ") " << difference;
      });

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_GT(seen, 3u);
  EXPECT_LT(seen, expected.size());
}

TEST_P(GpuModels, FusedOutputsAreThoseOfOnnxruntime) {
  auto loaded = load_job(GetParam());
  if (!loaded) GTEST_SKIP() << test::missing_data(std::string("data/models/") + GetParam());
  const Graph graph = prepare(std::move(loaded->model)).value();
  GpuModel plain(*test::gpu_machine().device, graph, {.fuse = false});
  GpuModel fused(*test::gpu_machine().device, graph, {});

  const auto unfused_outputs = test::run_now(plain, {loaded->input});
  const auto outputs = test::run_now(fused, {loaded->input});
  const auto again = test::run_now(fused, {loaded->input});

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  ASSERT_TRUE(unfused_outputs.has_value() && again.has_value());
  for (std::size_t i = 0; i < loaded->job.outputs.size(); ++i) {
    const std::string bytes = test::unzip(loaded->folder / loaded->job.outputs[i].file);
    const auto wanted = Tensor::from_bytes(ElementType::f32, loaded->job.outputs[i].shape,
                                           {bytes.begin(), bytes.end()});
    ASSERT_TRUE(wanted.has_value());
    EXPECT_LE(relative_error((*outputs)[i], *wanted), 1e-4);
    EXPECT_LE(relative_error((*outputs)[i], (*unfused_outputs)[i]), 1e-5);
    EXPECT_TRUE(std::ranges::equal((*outputs)[i].bytes(), (*again)[i].bytes()));
  }
  EXPECT_EQ(fused.statistics().nodes_on_processor, 0u);
  EXPECT_EQ(fused.statistics().submits, 1u);
  EXPECT_LT(fused.statistics().dispatches, plain.statistics().dispatches);
  EXPECT_LT(fused.statistics().memory_bytes, fused.statistics().unshared_bytes);
  std::printf("%s: %zu dispatches (%zu unfused), %llu of %llu bytes\n", GetParam(),
              fused.statistics().dispatches, plain.statistics().dispatches,
              static_cast<unsigned long long>(fused.statistics().memory_bytes),
              static_cast<unsigned long long>(fused.statistics().unshared_bytes));
}

TEST_P(GpuModels, OutputsAreThoseOfOnnxruntimeWhereFloatsTakeTwoBytes) {
  auto loaded = load_job(GetParam());
  if (!loaded) GTEST_SKIP() << test::missing_data(std::string("data/models/") + GetParam());
  if (!test::gpu_machine().device->has("shader-f16")) GTEST_SKIP() << "no shader-f16";
  const Graph graph = prepare(std::move(loaded->model)).value();
  GpuModel half(*test::gpu_machine().device, graph, {.halves = true});

  const auto outputs = test::run_now(half, {loaded->input});

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  for (std::size_t i = 0; i < loaded->job.outputs.size(); ++i) {
    const std::string bytes = test::unzip(loaded->folder / loaded->job.outputs[i].file);
    const auto wanted = Tensor::from_bytes(ElementType::f32, loaded->job.outputs[i].shape,
                                           {bytes.begin(), bytes.end()});
    ASSERT_TRUE(wanted.has_value());
    const double error = relative_error((*outputs)[i], *wanted);
    EXPECT_LE(error, 5e-3);
    EXPECT_GT(error, 1e-7) << "nothing was rounded";
    std::printf("%s: output %zu differs by %.2g\n", GetParam(), i, error);
  }
}

// One device computes the first part and another device the rest. The bits equal those of the whole
// graph with a barrier at the cut; the fused whole graph without a barrier is equal within
// rounding.
TEST_P(GpuModels, PartsAtRandomCutsGiveTheBitsOfTheWhole) {
  auto loaded = load_job(GetParam());
  if (!loaded) GTEST_SKIP() << test::missing_data(std::string("data/models/") + GetParam());
  const Graph graph = prepare(std::move(loaded->model)).value();
  const Inference inference = infer(graph, {loaded->input.without_bytes()}).value();
  GpuModel fused(*test::gpu_machine().device, graph, {});
  const auto whole = test::run_now(fused, {loaded->input});
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  std::mt19937 random(17);
  constexpr int cuts = 20;

  for (int cut = 0; cut < cuts; ++cut) {
    const std::size_t place = 1 + random() % (graph.nodes.size() - 1);
    GpuModel barred(*test::gpu_machine().device, graph, {.barrier = place});
    const auto expected = test::run_now(barred, {loaded->input});
    std::map<ValueId, Tensor> values = {{graph.input_ids[0], loaded->input}};
    for (const auto& [first, last] :
         {std::pair(std::size_t{0}, place), {place, graph.nodes.size()}}) {
      const Part part = part_of(graph, inference, first, last);
      std::vector<Tensor> inputs;
      for (const ValueId id : part.inputs) inputs.push_back(values.at(id));
      GpuModel model(*test::gpu_machine().device, part.graph, {});
      const auto outputs = test::run_now(model, std::move(inputs));
      ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
      for (std::size_t i = 0; i < part.outputs.size(); ++i) values[part.outputs[i]] = (*outputs)[i];
    }

    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const Tensor& joined = values.at(graph.outputs[i]);
      EXPECT_TRUE(std::ranges::equal(joined.bytes(), (*expected)[i].bytes()))
          << "cut before node " << place;
      EXPECT_LE(relative_error(joined, (*whole)[i]), 1e-6) << "cut before node " << place;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GpuModels,
                         testing::Values("mnist-pelican", "super-resolution-pelican",
                                         "ultraface-bus", "fastestdet-bus", "yolov5n-bus"));

}  // namespace
}  // namespace weft::onnx
