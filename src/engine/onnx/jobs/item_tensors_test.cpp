// A job is held against its model, and tensors are cut out of its stacks and put together again.
#include "engine/onnx/jobs/item_tensors.h"

#include <gtest/gtest.h>

#include "engine/onnx/jobs/test_job.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using test::job_of;
using test::replaced;
using test::small_manifest;

Graph small_graph() {
  auto graph = prepare(test::small_model());
  EXPECT_TRUE(graph.has_value());
  return std::move(*graph);
}

std::string refusal(const std::string& manifest) {
  const auto job = job_of(manifest);
  if (!job) return "";
  const auto tensors = ItemTensors::create(small_graph(), job->manifest);
  return tensors ? "" : tensors.error().message;
}

TEST(ItemTensors, CutOneItemAndPutResultsTogether) {
  const auto job = job_of(small_manifest(5));
  const Graph graph = small_graph();
  const auto tensors = ItemTensors::create(graph, job->manifest);
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  std::vector<ByteVector> outputs(tensors->output_count());
  for (const std::uint32_t item : {1U, 4U}) {
    const auto inputs = tensors->inputs(job->data, item);
    ASSERT_TRUE(inputs.has_value());
    EXPECT_EQ(inputs->at(0).shape(), (Shape{1, 4}));
    EXPECT_EQ(inputs->at(0).values<float>()[0], static_cast<float>(item));
    const auto results = interpret(graph, *inputs);
    ASSERT_TRUE(results.has_value()) << results.error().message;
    ASSERT_TRUE(tensors->append_outputs(*results, outputs).has_value());
  }
  // Item 1: relu(1, 4, 3, 1); item 4: relu(4, -2, 3, 1).
  const std::vector<std::int32_t> best = {1, 0};
  const std::vector<float> y = {1, 4, 3, 1, 4, 0, 3, 1};
  EXPECT_TRUE(std::ranges::equal(outputs.at(0), as_bytes(std::span(best))));
  EXPECT_TRUE(std::ranges::equal(outputs.at(1), as_bytes(std::span(y))));
}

TEST(ItemTensors, ModelsThatAreNotTheJobsAreRefusedWithTheValuesName) {
  const std::string good = small_manifest(3);
  EXPECT_EQ(refusal(good), "");
  EXPECT_EQ(refusal(replaced(good, R"("name":"x")", R"("name":"z")")),
            "The job does not give the model's input 'x'.");
  EXPECT_EQ(refusal(replaced(good, R"("name":"y")", R"("name":"z")")),
            "The model has no output 'z'.");
  EXPECT_EQ(
      refusal(replaced(good, R"("type":"i32","shape":[3])", R"("type":"f32","shape":[3])")),
      "The job's output 'best' is of the type f32; the model's is i64, which a job has as i32.");
  EXPECT_EQ(refusal(replaced(good, R"("y","type":"f32","shape":[3,4])",
                             R"("y","type":"f32","shape":[3,5])")),
            "The model gives [1, 4] for the output 'y' of an item, 4 elements; the job says 5.");
  EXPECT_EQ(
      refusal(replaced(good, R"("x","type":"f32","shape":[3,4])",
                       R"("x","type":"f32","shape":[3,2,2])")),
      "The job's input 'x' gives [2, 2] for an item; the model takes [1, 4] (-1 is any size).");
}

}  // namespace
}  // namespace weft::onnx
