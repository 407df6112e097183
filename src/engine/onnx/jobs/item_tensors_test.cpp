// Tests that a job is checked against its model, and that tensors are read from and written to
// stacks.
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
  // Item 1 is relu(1, 4, 3, 1), and item 4 is relu(4, -2, 3, 1).
  const std::vector<std::int32_t> best = {1, 0};
  const std::vector<float> y = {1, 4, 3, 1, 4, 0, 3, 1};
  EXPECT_TRUE(std::ranges::equal(outputs.at(0), as_bytes(std::span(best))));
  EXPECT_TRUE(std::ranges::equal(outputs.at(1), as_bytes(std::span(y))));
}

TEST(ItemTensors, IntegersAreWiderOrNarrowerInAJob) {
  const auto there_and_back = [](const Tensor& tensor, std::size_t bytes) {
    ByteVector stack;
    ASSERT_TRUE(append_to_stack(stack, tensor, "x").has_value());
    EXPECT_EQ(stack.size(), bytes) << to_string(tensor.type());
    EXPECT_EQ(bytes, static_cast<std::size_t>(tensor.count()) *
                         manifest::bytes_per_element(job_type(tensor.type())));
    const auto back = from_stack(stack, tensor.type(), tensor.shape());
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_TRUE(std::ranges::equal(back->bytes(), tensor.bytes())) << to_string(tensor.type());
  };
  const std::vector<std::uint8_t> u8 = {0, 200, 255};
  const std::vector<std::int8_t> i8 = {0, -128, 127};
  const std::vector<std::uint16_t> u16 = {0, 40000, 65535};
  const std::vector<std::int16_t> i16 = {0, -32768, 32767};
  const std::vector<std::int64_t> i64 = {0, -2147483648LL, 2147483647LL};
  const std::vector<Truth> truths = {Truth(false), Truth(true), Truth(true)};
  there_and_back(Tensor::of<std::uint8_t>({3}, u8), 12);
  there_and_back(Tensor::of<std::int8_t>({3}, i8), 3);
  there_and_back(Tensor::of<std::uint16_t>({3}, u16), 12);
  there_and_back(Tensor::of<std::int16_t>({3}, i16), 12);
  there_and_back(Tensor::of<std::int64_t>({3}, i64), 12);
  there_and_back(Tensor::of<Truth>({3}, truths), 12);

  ByteVector stack;
  const std::vector<std::int64_t> far = {2147483648LL};
  EXPECT_EQ(append_to_stack(stack, Tensor::of<std::int64_t>({1}, far), "An input").error().message,
            "An input has the value 2147483648, which is not an i32.");
  EXPECT_EQ(from_stack(ByteVector{7, 0, 0, 0}, ElementType::boolean, {1})->bytes()[0], 1);
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
