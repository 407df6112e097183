// ONNX's own cases on a GPU: the same results as on the processor, and by kernels wherever there
// are some. Everything with WEFT_LONG, else a part that is drawn.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_cases.h"

namespace weft::onnx {
namespace {

// Cases that are known to differ on a GPU, and why. A case that begins to pass must leave this
// list.
const std::map<std::string, std::string> known_gpu_differences = {};

struct GpuOutcome {
  std::string difference;
  bool on_gpu = false;  // No node was left to the processor.
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
  GpuOutcome out;
  out.on_gpu =
      compiled.statistics().dispatches > 0 && compiled.statistics().processor_nodes.empty();
  for (std::size_t i = 0; i < found.outputs.size() && out.difference.empty(); ++i) {
    WEFT_ASSIGN(const NamedTensor expected, read_tensor(weft::as_bytes(found.outputs[i])));
    out.difference = test::difference(outputs[i], expected.tensor);
  }
  return out;
}

TEST(GpuCases, GiveWhatTheyExpect) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const auto path = test::find_data("data/onnx-node/onnx-node.tar.gz");
  if (!path) GTEST_SKIP() << test::missing_data("data/onnx-node/onnx-node.tar.gz");
  auto cases = test::read_cases(test::read_archive(*path));
  if (std::getenv("WEFT_LONG") == nullptr) {
    std::mt19937 random(17);
    std::ranges::shuffle(cases, random);
    cases.resize(120);
  }
  std::size_t passed = 0, on_gpu = 0;
  std::map<std::string, int> left;
  for (const test::NodeCase& found : cases) {
    const auto result = run_gpu_case(found);
    const bool passes = result && result->difference.empty();
    passed += passes ? 1 : 0;
    on_gpu += passes && result->on_gpu ? 1 : 0;
    EXPECT_EQ(passes, !known_gpu_differences.contains(found.name))
        << found.name << ": " << (result ? result->difference : result.error().message);
  }
  std::printf("%zu of %zu cases pass, %zu of them by kernels alone\n", passed, cases.size(),
              on_gpu);
  EXPECT_GE(on_gpu * 2, cases.size());
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
