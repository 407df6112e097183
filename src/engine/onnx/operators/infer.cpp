#include "engine/onnx/operators/infer.h"

#include <algorithm>

#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

// The largest tensor that inference computes. Tensors of shapes and indices are smaller; larger
// tensors are computed by the run.
constexpr std::uint64_t known_bytes_max = 64 << 10;

std::uint64_t multiply_adds(const Node& node, std::span<const Tensor* const> inputs,
                            const Tensor& out) {
  const auto shape = [&](std::size_t i) -> const Shape& { return inputs[i]->shape(); };
  const auto count = static_cast<std::uint64_t>(out.count());
  if (node.op == "Conv" || node.op == "ConvInteger") {
    const Shape kernel(shape(1).begin() + 1, shape(1).end());
    return count * static_cast<std::uint64_t>(element_count(kernel));
  }
  if (node.op == "QLinearConv") {
    const Shape kernel(shape(3).begin() + 1, shape(3).end());
    return count * static_cast<std::uint64_t>(element_count(kernel));
  }
  if (node.op == "ConvTranspose") {
    const Shape kernel(shape(1).begin() + 1, shape(1).end());
    return static_cast<std::uint64_t>(element_count(shape(0)) * element_count(kernel));
  }
  if (node.op == "MatMul" || node.op == "MatMulInteger" || node.op == "QLinearMatMul")
    return count * static_cast<std::uint64_t>(shape(0).back());
  if (node.op == "Gemm") {
    const auto transposed = node.attributes.find("transA");
    const bool first =
        transposed != node.attributes.end() && std::get<std::int64_t>(transposed->second) != 0;
    return count * static_cast<std::uint64_t>(shape(0)[first ? 0 : 1]);
  }
  return 0;
}

}  // namespace

Result<Inference> infer(const Graph& graph, std::vector<Tensor> inputs) {
  WEFT_OK(check_inputs(graph, inputs));
  Inference out;
  out.values.resize(graph.values.size());
  for (std::size_t id = 0; id < graph.values.size(); ++id)
    out.values[id] = graph.values[id].constant;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    out.values[graph.input_ids[i]] = std::move(inputs[i]);
  for (const Node& node : graph.nodes) {
    std::vector<const Tensor*> given;
    bool known = true, shaped = true;
    for (const ValueId id : node.inputs) {
      const Tensor* tensor = id == no_value || !out.values[id] ? nullptr : &*out.values[id];
      if (id != no_value && tensor == nullptr) shaped = false;
      known = known && (id == no_value || (tensor != nullptr && tensor->has_bytes()));
      given.push_back(tensor);
    }
    if (!shaped) continue;
    auto outputs = run_node(graph, node, given, true);
    if (!outputs) {
      if (outputs.error().code == ErrorCode::unavailable) continue;
      return pass(std::move(outputs));
    }
    bool small = known;
    for (const auto& tensor : *outputs)
      small = small && (!tensor || tensor->byte_count() <= known_bytes_max);
    if (small) {
      WEFT_ASSIGN(outputs, run_node(graph, node, given, false));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) out.values[node.outputs[i]] = std::move((*outputs)[i]);
  }
  return out;
}

Result<std::vector<Tensor>> input_shapes(const Graph& graph, std::int64_t otherwise) {
  std::vector<Tensor> out;
  for (const ValueInfo& input : graph.inputs) {
    Shape shape;
    if (input.shape)
      for (const Dimension& dimension : *input.shape)
        shape.push_back(dimension.size.value_or(otherwise));
    WEFT_ASSIGN(Tensor tensor, Tensor::shape_only(input.type, std::move(shape)));
    out.push_back(std::move(tensor));
  }
  return out;
}

std::uint64_t multiply_adds_of(const Inference& inference, const Node& node) {
  std::vector<const Tensor*> given;
  for (const ValueId id : node.inputs) {
    if (id != no_value && !inference.values[id]) return 0;
    given.push_back(id == no_value ? nullptr : &*inference.values[id]);
  }
  const ValueId out = node.outputs[0];
  return out == no_value || !inference.values[out]
             ? 0
             : multiply_adds(node, given, *inference.values[out]);
}

RunCost cost_of(const Graph& graph, const Inference& inference) {
  RunCost cost;
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    cost.parameter_count += static_cast<std::uint64_t>(value.constant->count());
    cost.parameter_bytes += value.constant->byte_count();
  }
  const std::vector<std::size_t> last = last_uses(graph);
  std::uint64_t held = 0;
  const auto bytes_of = [&](ValueId id) -> std::uint64_t {
    if (id == no_value || graph.values[id].constant || !inference.values[id]) return 0;
    return inference.values[id]->byte_count();
  };
  for (const ValueId id : graph.input_ids) held += bytes_of(id);
  cost.activation_bytes = held;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    bool shaped = std::ranges::all_of(node.inputs, [&](ValueId id) {
      return id == no_value || inference.values[id].has_value();
    });
    for (const ValueId id : node.outputs) {
      held += bytes_of(id);
      if (id != no_value && !inference.values[id]) shaped = false;
    }
    cost.activation_bytes = std::max(cost.activation_bytes, held);
    cost.multiply_adds += multiply_adds_of(inference, node);
    cost.complete = cost.complete && shaped;
    std::vector<ValueId> freed;
    for (const ValueId id : node.inputs)
      if (id != no_value && last[id] == n && !std::ranges::contains(freed, id)) {
        held -= bytes_of(id);
        freed.push_back(id);
      }
  }
  return cost;
}

}  // namespace weft::onnx
