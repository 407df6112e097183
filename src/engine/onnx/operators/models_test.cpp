// Tests whole models: the output of every node equals the output that onnxruntime computed.
#include <gtest/gtest.h>

#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_model_jobs.h"

namespace weft::onnx {
namespace {

class Models : public testing::TestWithParam<const char*> {};

TEST_P(Models, EveryNodeGivesWhatIsExpectedOfIt) {
  const std::string name = GetParam();
  const auto path = test::find_data("data/models/" + name + ".json");
  if (!path) GTEST_SKIP() << test::missing_data("data/models/" + name + ".json");
  const auto job = test::read_job(*path);
  ASSERT_TRUE(job.has_value());
  auto model = open_model_file(path->parent_path() / job->model);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto graph = prepare(std::move(*model), {.fold = false, .keep_unused = true});
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  std::map<std::string, const test::ExpectedNode*> expected;
  for (const test::ExpectedNode& node : job->nodes) expected[node.output] = &node;
  std::size_t seen = 0;
  InterpretOptions options;
  options.after = [&](const Node& node, ValueId id, const Tensor& value) {
    const auto found = expected.find(graph->name(id));
    if (found == expected.end()) return;
    ++seen;
    const std::string difference = test::node_difference(value, *found->second, 1e-4);
    EXPECT_TRUE(difference.empty()) << node.name << " (" << node.op << ") " << difference;
  };
  std::vector<Tensor> inputs = {test::picture_tensor(*job, path->parent_path() / (name + ".png"))};

  const auto outputs = interpret(*graph, std::move(inputs), options);

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_EQ(seen, expected.size());
  for (std::size_t i = 0; i < job->outputs.size(); ++i) {
    const std::string bytes = test::unzip(path->parent_path() / job->outputs[i].file);
    const auto wanted =
        Tensor::from_bytes(ElementType::f32, job->outputs[i].shape, {bytes.begin(), bytes.end()});
    ASSERT_TRUE(wanted.has_value()) << wanted.error().message;
    double error = 0, length = 0;
    ASSERT_EQ((*outputs)[i].shape(), wanted->shape());
    for (std::int64_t k = 0; k < wanted->count(); ++k) {
      error += std::pow((*outputs)[i].number(k) - wanted->number(k), 2);
      length += std::pow(wanted->number(k), 2);
    }
    EXPECT_LE(std::sqrt(error), 1e-4 * std::sqrt(length)) << job->outputs[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models,
                         testing::Values("mnist-pelican", "super-resolution-pelican",
                                         "ultraface-bus", "fastestdet-bus", "yolov5n-bus"));

}  // namespace
}  // namespace weft::onnx
