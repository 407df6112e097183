// Runs ONNX's own cases on a GPU: kernels must give the results of the processor. It runs all cases
// with WEFT_LONG, otherwise one randomly chosen case of each operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/base/long_tests.h"
#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_cases.h"

namespace weft::onnx {
namespace {

// Cases that run no kernel, with the reason; docs/onnx.md lists them by operator. A case that
// begins to run on the GPU must be removed from this list.
const std::map<std::string, std::string> cases_without_kernel = {
    {"test_constant", "its result is a part of the model"},
    {"test_pow_types_int64_float32", "no range of a power is proven"},
    {"test_pow_types_int64_int64", "no range of a power is proven"},
};

enum class Place : std::uint8_t {
  kernels,    // Kernels computed every node.
  moved,      // All nodes only give their bytes another shape.
  processor,  // The processor computed a node, or no node was left.
};
struct GpuOutcome {
  std::string difference;
  Place place = Place::processor;
  std::string left;  // The first node that the processor computed.
};
Result<GpuOutcome> run_gpu_case(const test::NodeCase& found) {
  WEFT_ASSIGN(Model model, read_model(weft::as_bytes(found.model)));
  WEFT_ASSIGN(Graph graph, prepare(std::move(model)));
  std::vector<Tensor> inputs;
  for (const std::string& bytes : found.inputs) {
    WEFT_ASSIGN(NamedTensor input, read_tensor(weft::as_bytes(bytes)));
    inputs.push_back(std::move(input.tensor));
  }
  GpuModel compiled(*test::gpu_machine().device, std::move(graph), {});
  WEFT_ASSIGN(const auto outputs, test::run_now(compiled, std::move(inputs)));
  const GpuModel::Statistics& counted = compiled.statistics();
  GpuOutcome out;
  if (!counted.processor_nodes.empty())
    out.left = counted.processor_nodes[0];
  else if (counted.nodes_on_gpu > 0)
    out.place = counted.dispatches > 0 ? Place::kernels : Place::moved;
  for (std::size_t i = 0; i < found.outputs.size() && out.difference.empty(); ++i) {
    WEFT_ASSIGN(const NamedTensor expected, read_tensor(weft::as_bytes(found.outputs[i])));
    out.difference = test::difference(outputs[i], expected.tensor);
  }
  return out;
}

// Chooses one random case of each operator.
std::vector<test::NodeCase> one_of_each(std::vector<test::NodeCase> cases) {
  std::mt19937 random(17);
  std::ranges::shuffle(cases, random);
  std::set<std::string> seen;
  std::erase_if(cases, [&](const test::NodeCase& found) {
    const auto model = read_model(weft::as_bytes(found.model));
    return model && !model->nodes.empty() && !seen.insert(model->nodes[0].op).second;
  });
  return cases;
}

TEST(GpuCases, GiveWhatTheyExpect) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const auto path = test::find_data("data/onnx-node/onnx-node.tar.gz");
  if (!path) GTEST_SKIP() << test::missing_data("data/onnx-node/onnx-node.tar.gz");
  auto cases = test::read_cases(test::read_archive(*path));
  const bool all = weft::test::long_tests();
  if (!all) cases = one_of_each(std::move(cases));
  std::map<Place, std::size_t> counts;
  for (const test::NodeCase& found : cases) {
    const auto result = run_gpu_case(found);
    ASSERT_TRUE(result.has_value()) << found.name << ": " << result.error().message;
    EXPECT_EQ(result->difference, "") << found.name;
    ++counts[result->place];
    EXPECT_EQ(result->place == Place::processor, cases_without_kernel.contains(found.name))
        << found.name << " " << result->left;
  }
  const std::size_t on_gpu = counts[Place::kernels] + counts[Place::moved];
  std::printf("%zu cases: %zu by kernels, %zu only reshaped, %zu otherwise\n", cases.size(),
              counts[Place::kernels], counts[Place::moved], counts[Place::processor]);
  if (all) {
    EXPECT_GE(on_gpu * 100, cases.size() * 98);
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(GpuCases, CommittedCasesGiveWhatTheyExpect) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  std::map<std::string, std::string> files;
  const std::filesystem::path folder =
      std::filesystem::path(WEFT_SOURCE_DIR) / "src/engine/onnx/testdata/cases";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), folder).string()] =
          test::read_bytes(entry.path());
  for (const test::NodeCase& found : test::read_cases(files)) {
    const auto result = run_gpu_case(found);
    EXPECT_TRUE(result && result->difference.empty())
        << found.name << ": " << (result ? result->difference : result.error().message);
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

}  // namespace
}  // namespace weft::onnx
