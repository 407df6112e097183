// Tests that inputs on the device give the results of the same bytes from the processor, and that
// constants that were released from the processor's memory are still on the device.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

// A graph of y = relu(x * w) + v, in which x is [size][8], or [n][8] if there is no size.
Graph product_graph(std::optional<std::int64_t> size) {
  Model model;
  model.opset = 17;
  model.initializers = {{"w", test::numbers({8, 8})}, {"v", test::numbers({8})}};
  model.nodes = {test::model_node("MatMul", {"x", "w"}, "p"), test::model_node("Relu", {"p"}, "r"),
                 test::model_node("Add", {"r", "v"}, "y")};
  model.inputs = {test::float_value("x", {4, 8})};
  if (!size) model.inputs[0].shape->front() = {.size = {}, .symbol = "n"};
  model.outputs = {test::float_value("y", {4, 8})};
  return prepare(std::move(model)).value();
}

Result<std::vector<Tensor>> run_with(GpuModel& model, const Tensor& input,
                                     const gpu::Buffer* buffer) {
  return gpu::run(*test::gpu_machine().instance,
                  model.run_on_device({input.without_bytes()}, {buffer}));
}

gpu::Buffer buffer_with(const Tensor& values) {
  gpu::Device& device = *test::gpu_machine().device;
  gpu::Buffer buffer =
      device.create_buffer({.size = values.byte_count(),
                            .usage = gpu::BufferUsage::storage | gpu::BufferUsage::copy_source |
                                     gpu::BufferUsage::copy_destination});
  device.write(buffer, 0, values.bytes());
  return buffer;
}

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

TEST(DeviceInputs, GiveWhatTheirBytesGive) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  GpuModel model(*test::gpu_machine().device, product_graph(4), {});
  const Tensor x = test::numbers({4, 8});
  const gpu::Buffer buffer = buffer_with(x);

  const auto expected = test::run_now(model, {x});
  const auto got = run_with(model, x, &buffer);
  const auto again = run_with(model, x, &buffer);  // The first run did not change the buffer.

  ASSERT_TRUE(expected && got && again) << (got ? "" : got.error().message);
  EXPECT_EQ(floats(got->at(0)), floats(expected->at(0)));
  EXPECT_EQ(floats(again->at(0)), floats(expected->at(0)));
  EXPECT_EQ(model.statistics().submits, 1u);
}

TEST(DeviceInputs, AreRefusedWhereTheyAreTooSmallOrMissing) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  GpuModel model(*test::gpu_machine().device, product_graph(4), {});
  const gpu::Buffer half = buffer_with(test::numbers({2, 8}));
  const Tensor x = test::numbers({4, 8});

  const auto small = run_with(model, x, &half);
  const auto missing = run_with(model, x, nullptr);

  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().message,
            "The buffer of the input 'x' has 64 bytes; shape [4, 8] takes 128.");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "The input 'x' has no values.");
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(DeviceInputs, ConstantsLeaveTheProcessorsMemory) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  EXPECT_TRUE(has_one_plan(product_graph(4)));
  EXPECT_FALSE(has_one_plan(product_graph({})));
  GpuModel kept(*test::gpu_machine().device, product_graph({}), {});
  GpuModel model(*test::gpu_machine().device, product_graph({}), {.release_constants = true});
  const Tensor x = test::numbers({4, 8});

  const auto expected = test::run_now(kept, {x});
  const auto first = test::run_now(model, {x});
  const auto second = test::run_now(model, {x});
  const auto other = test::run_now(model, {test::numbers({2, 8})});

  ASSERT_TRUE(expected && first && second);
  EXPECT_EQ(floats(first->at(0)), floats(expected->at(0)));
  EXPECT_EQ(floats(second->at(0)), floats(expected->at(0)));
  EXPECT_TRUE(std::ranges::none_of(model.graph().values, [](const Value& value) {
    return value.constant && value.constant->has_bytes();
  }));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "The model is bound to other input shapes, and its weights are only on the GPU; open "
            "the model again for these shapes.");
}

}  // namespace
}  // namespace weft::onnx
