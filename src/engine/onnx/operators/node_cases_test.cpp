// Tests that every operator gives the results of ONNX's own cases.
#include <gtest/gtest.h>

#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_cases.h"

namespace weft::onnx {
namespace {

// Cases that are known to differ, with the reason. A case that passes must be removed from this
// list.
const std::map<std::string, std::string> known_differences = {};

Result<std::string> run_case(const test::NodeCase& found, bool fold) {
  WEFT_ASSIGN(Model model, read_model(weft::as_bytes(found.model)));
  WEFT_ASSIGN(const Graph graph, prepare(std::move(model), {.fold = fold}));
  std::vector<Tensor> inputs;
  for (const std::string& bytes : found.inputs) {
    WEFT_ASSIGN(NamedTensor input, read_tensor(weft::as_bytes(bytes)));
    inputs.push_back(std::move(input.tensor));
  }
  WEFT_ASSIGN(const auto outputs, interpret(graph, std::move(inputs)));
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    WEFT_ASSIGN(const NamedTensor expected, read_tensor(weft::as_bytes(found.outputs[i])));
    const std::string difference = test::difference(outputs[i], expected.tensor);
    if (!difference.empty()) return weft::format("output {} {}", i, difference);
  }
  return std::string();
}

TEST(NodeCases, AllOfOnnxsCasesGiveWhatTheyExpect) {
  const auto path = test::find_data("data/onnx-node/onnx-node.tar.gz");
  if (!path) GTEST_SKIP() << test::missing_data("data/onnx-node/onnx-node.tar.gz");
  const auto cases = test::read_cases(test::read_archive(*path));
  ASSERT_GE(cases.size(), 597u);
  std::size_t passed = 0;
  for (const test::NodeCase& found : cases) {
    const auto result = run_case(found, true);
    const bool passes = result && result->empty();
    if (passes) ++passed;
    EXPECT_EQ(passes, !known_differences.contains(found.name))
        << found.name << ": " << (result ? *result : result.error().message);
  }
  std::printf("%zu of %zu cases pass\n", passed, cases.size());
}

TEST(NodeCases, CommittedCasesGiveWhatTheyExpectWithAndWithoutFolding) {
  std::map<std::string, std::string> files;
  const std::filesystem::path folder =
      std::filesystem::path(WEFT_SOURCE_DIR) / "src/engine/onnx/testdata/cases";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), folder).string()] =
          test::read_bytes(entry.path());
  const auto cases = test::read_cases(files);
  ASSERT_GE(cases.size(), 8u);
  for (const test::NodeCase& found : cases)
    for (const bool fold : {true, false}) {
      const auto result = run_case(found, fold);
      EXPECT_TRUE(result && result->empty())
          << found.name << ": " << (result ? *result : result.error().message);
    }
}

// One function infers shapes and computes, so it must give the same shapes in both uses.
TEST(NodeCases, ShapesAreInferredAsTheyAreComputed) {
  const auto path = test::find_data("data/onnx-node/onnx-node.tar.gz");
  if (!path) GTEST_SKIP() << test::missing_data("data/onnx-node/onnx-node.tar.gz");
  for (const test::NodeCase& found : test::read_cases(test::read_archive(*path))) {
    auto model = read_model(weft::as_bytes(found.model));
    ASSERT_TRUE(model.has_value()) << found.name << ": " << model.error().message;
    const auto graph = prepare(std::move(*model), {.fold = false});
    ASSERT_TRUE(graph.has_value()) << found.name << ": " << graph.error().message;
    std::vector<Tensor> known, shapes;
    for (const std::string& bytes : found.inputs) {
      known.push_back(read_tensor(weft::as_bytes(bytes)).value().tensor);
      // Inputs that may give shapes keep their values; large float inputs have only a shape.
      const bool small = !is_float(known.back().type()) || known.back().count() <= 1;
      shapes.push_back(small ? known.back() : known.back().without_bytes());
    }
    std::vector<const Tensor*> with_values, without;
    for (const ValueId id : graph->nodes[0].inputs) {
      const auto place = std::ranges::find(graph->input_ids, id);
      const bool given = id != no_value && place != graph->input_ids.end();
      const auto at = static_cast<std::size_t>(place - graph->input_ids.begin());
      with_values.push_back(given ? &known[at] : nullptr);
      without.push_back(given ? &shapes[at] : nullptr);
    }
    const auto inferred = run_node(*graph, graph->nodes[0], without, true);
    if (!inferred) {
      EXPECT_EQ(inferred.error().code, ErrorCode::unavailable)
          << found.name << ": " << inferred.error().message;
      continue;
    }
    const auto computed = run_node(*graph, graph->nodes[0], with_values, false);
    ASSERT_TRUE(computed.has_value()) << found.name << ": " << computed.error().message;
    for (std::size_t i = 0; i < computed->size(); ++i) {
      if (!(*computed)[i]) continue;
      ASSERT_TRUE((*inferred)[i].has_value()) << found.name;
      EXPECT_EQ((*inferred)[i]->shape(), (*computed)[i]->shape()) << found.name;
      EXPECT_EQ((*inferred)[i]->type(), (*computed)[i]->type()) << found.name;
    }
  }
}

TEST(NodeCases, EveryOperatorOfTheCasesIsInTheTable) {
  EXPECT_GE(all_operators().size(), 116u);
  for (std::size_t i = 1; i < all_operators().size(); ++i)
    EXPECT_LT(all_operators()[i - 1]->name, all_operators()[i]->name);
  EXPECT_EQ(find_operator("Conv")->name, "Conv");
  EXPECT_EQ(find_operator("Conva"), nullptr);
}

}  // namespace
}  // namespace weft::onnx
