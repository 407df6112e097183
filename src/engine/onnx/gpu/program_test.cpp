// Tests that a compiled program is complete: run from its description alone, it gives the results
// of the processor.
#include "engine/onnx/gpu/program.h"

#include <gtest/gtest.h>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using gpu::BufferUsage;

// Runs a program with only the steps that the documentation describes.
Async<Result<std::vector<std::vector<std::uint32_t>>>> run_program(
    gpu::Device& device, const Program& program, std::vector<std::vector<std::uint32_t>> inputs) {
  std::vector<gpu::Buffer> buffers;
  for (const Program::Buffer& about : program.buffers) {
    buffers.push_back(
        device.create_buffer({.size = about.bytes,
                              .usage = BufferUsage::storage | BufferUsage::copy_source |
                                       BufferUsage::copy_destination}));
    if (about.weights_offset)
      device.write(buffers.back(), 0,
                   ByteSpan(program.weights)
                       .subspan(static_cast<std::size_t>(*about.weights_offset),
                                static_cast<std::size_t>(about.bytes)));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    device.write(buffers[program.inputs[i].buffer], 0,
                 weft::as_bytes(std::span<const std::uint32_t>(inputs[i])));
  gpu::Encoder encoder = device.create_encoder();
  std::vector<gpu::Pipeline> pipelines;
  std::vector<gpu::BindGroup> groups;
  for (const Program::Step& step : program.steps) {
    gpu::GroupLayout layout;
    std::vector<gpu::BoundBuffer> bound;
    for (const auto& [list, kind] : {std::pair(&step.reads, gpu::BindingKind::storage_read),
                                     std::pair(&step.writes, gpu::BindingKind::storage)})
      for (const std::uint32_t buffer : *list) {
        bound.push_back(
            {.binding = static_cast<std::uint32_t>(layout.size()), .buffer = buffers[buffer]});
        layout.push_back({static_cast<std::uint32_t>(layout.size()), kind});
      }
    WEFT_CO_ASSIGN(
        gpu::Pipeline pipeline,
        co_await device.create_pipeline(
            {.wgsl = program.modules[step.module], .label = "step", .groups = {layout}}));
    pipelines.push_back(std::move(pipeline));
    groups.push_back(device.create_bind_group(pipelines.back(), 0, bound));
    gpu::Pass pass = encoder.begin_pass();
    pass.run(pipelines.back(), {&groups.back()},
             {step.dispatch[0], step.dispatch[1], step.dispatch[2]});
  }
  std::vector<std::vector<std::uint32_t>> out;
  std::vector<gpu::Buffer> results;
  for (const Program::Port& port : program.outputs) {
    const auto words = static_cast<std::size_t>(element_count(port.shape));
    results.push_back(device.create_buffer(
        {.size = words * 4, .usage = BufferUsage::map_read | BufferUsage::copy_destination}));
    encoder.copy(buffers[port.buffer], 0, results.back(), 0, words * 4);
    out.emplace_back(words);
  }
  device.submit(std::move(encoder));
  for (std::size_t i = 0; i < out.size(); ++i)
    WEFT_CO_OK(co_await device.read(
        results[i], 0,
        {reinterpret_cast<std::uint8_t*>(out[i].data()), out[i].size() * sizeof(std::uint32_t)}));
  co_return out;
}

using test::model_node;
using test::numbers;

Model small_model() {
  Model model;
  model.opset = 17;
  model.inputs = {test::float_value("x", {1, 3, 9, 9})};
  model.outputs = {test::float_value("y", {1, 4, 9, 9})};
  model.initializers = {{"w", numbers({4, 3, 3, 3})}, {"b", numbers({4})}};
  ModelNode convolution = model_node("Conv", {"x", "w", "b"}, "c");
  convolution.attributes.emplace("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  model.nodes = {convolution, model_node("Sigmoid", {"c"}, "s"), model_node("Mul", {"c", "s"}, "m"),
                 model_node("Add", {"m", "c"}, "y")};
  return model;
}

class CompiledProgram : public testing::TestWithParam<bool> {};

TEST_P(CompiledProgram, GivesWhatTheProcessorGives) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const Graph graph = prepare(small_model()).value();
  const Tensor input = numbers({1, 3, 9, 9});
  const auto program = compile(graph, {input.without_bytes()}, {.fuse = GetParam()});
  ASSERT_TRUE(program.has_value()) << program.error().message;

  const auto outputs =
      gpu::run(*test::gpu_machine().instance,
               run_program(*test::gpu_machine().device, *program, {*storage_of(input)}));
  const auto expected = interpret(graph, {input}, {});

  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  ASSERT_TRUE(expected.has_value());
  EXPECT_EQ(program->steps.size(), GetParam() ? 1u : 4u);
  const auto got =
      tensor_of(program->outputs[0].type, program->outputs[0].shape, outputs->at(0)).value();
  ASSERT_EQ(got.shape(), (*expected)[0].shape());
  for (std::int64_t i = 0; i < got.count(); ++i)
    EXPECT_NEAR(got.number(i), (*expected)[0].number(i), 1e-5) << i;
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

INSTANTIATE_TEST_SUITE_P(FusedAndUnfused, CompiledProgram, testing::Bool());

TEST(CompiledProgramRefusals, NameTheOutputWhoseShapeDependsOnValues) {
  Model model = small_model();
  model.nodes.push_back(model_node("NonZero", {"y"}, "places"));
  model.outputs = {test::float_value("places", {4, 7})};
  model.outputs[0].type = ElementType::i64;
  const Graph graph = prepare(std::move(model)).value();

  const auto program = compile(graph, input_shapes(graph).value(), {});

  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().message,
            "The shape of the output 'places' depends on values; remove its node from the model, "
            "and compute the output from the node's inputs.");
}

}  // namespace
}  // namespace weft::onnx
