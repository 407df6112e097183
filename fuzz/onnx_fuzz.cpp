// Fuzzes ONNX models: bytes are a model, and a model becomes a graph, or each gives an error of one
// sentence. A small graph runs or says why it does not, and its shapes are the inferred ones.
#include "common/base/check.h"
#include "engine/onnx/numpy_file.h"
#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"

namespace {

using namespace weft;

void sentence(const Error& error) {
  check(error.message.ends_with('.') || error.message.contains(". - while "),
        "a refusal is a sentence");
}

void tensors_come_back(ByteSpan bytes) {
  const auto tensor = onnx::read_tensor(bytes);
  if (!tensor) return sentence(tensor.error());
  const auto back = onnx::read_tensor(onnx::write_tensor(tensor->name, tensor->tensor));
  check(back && back->tensor.shape() == tensor->tensor.shape(), "a tensor comes back");
  const auto numpy = onnx::read_npy(onnx::write_npy(tensor->tensor));
  check(numpy && std::ranges::equal(numpy->bytes(), tensor->tensor.bytes()), "also as .npy");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(data, size);
  tensors_come_back(bytes);
  if (const auto numpy = onnx::read_npy(bytes); !numpy) sentence(numpy.error());
  auto model = onnx::read_model(bytes, {}, {.nodes_max = 64, .tensors_max = 64, .list_max = 4096});
  if (!model) {
    sentence(model.error());
    return 0;
  }
  const auto graph = onnx::prepare(std::move(*model), {.folded_bytes_max = 1 << 16});
  if (!graph) {
    sentence(graph.error());
    return 0;
  }
  auto shapes = onnx::input_shapes(*graph);
  if (!shapes) return 0;
  const auto inferred = onnx::infer(*graph, *shapes);
  if (!inferred) {
    sentence(inferred.error());
    return 0;
  }
  // Only graphs that are computed quickly are run.
  std::uint64_t work = onnx::cost_of(*graph, *inferred).multiply_adds;
  for (std::size_t id = 0; id < graph->values.size(); ++id) {
    if (!inferred->values[id]) return 0;
    work += inferred->values[id]->byte_count();
  }
  if (work > 1 << 18) return 0;
  std::vector<onnx::Tensor> inputs;
  for (const onnx::Tensor& shape : *shapes)
    inputs.push_back(onnx::Tensor::create(shape.type(), shape.shape()).value());
  onnx::InterpretOptions options;
  options.after = [&](const onnx::Node&, onnx::ValueId id, const onnx::Tensor& value) {
    check(value.shape() == inferred->values[id]->shape() &&
              value.type() == inferred->values[id]->type(),
          "a run gives the shapes that were inferred");
  };
  const auto outputs = onnx::interpret(*graph, std::move(inputs), options);
  if (!outputs) sentence(outputs.error());
  return 0;
}
