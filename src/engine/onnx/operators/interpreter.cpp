#include "engine/onnx/operators/interpreter.h"

#include <map>

#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {

Result<> check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    return fail(ErrorCode::invalid_argument, "The model takes {} inputs; {} are given.",
                graph.inputs.size(), inputs.size());
  std::map<std::string, std::int64_t> symbols;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& expected = graph.inputs[i];
    const Tensor& given = inputs[i];
    if (given.type() != expected.type)
      return fail(ErrorCode::invalid_argument, "The input '{}' must be of type {}, not {}.",
                  expected.name, to_string(expected.type), to_string(given.type()));
    if (!expected.shape) continue;
    bool fits = given.shape().size() == expected.shape->size();
    std::string wanted;
    for (std::size_t d = 0; d < expected.shape->size(); ++d) {
      const Dimension& dimension = (*expected.shape)[d];
      std::optional<std::int64_t> size = dimension.size;
      if (!size && !dimension.symbol.empty() && fits)
        size = symbols.emplace(dimension.symbol, given.shape()[d]).first->second;
      fits = fits && (!size || *size == given.shape()[d]);
      wanted += d == 0 ? "" : ", ";
      wanted += size ? std::to_string(*size) : dimension.symbol.empty() ? "?" : dimension.symbol;
    }
    if (!fits)
      return fail(ErrorCode::invalid_argument, "The input '{}' must be of shape [{}], not {}.",
                  expected.name, wanted, to_string(given.shape()));
  }
  return {};
}

std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.values.size(), ~std::size_t{0});
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].inputs)
      if (id != no_value) last[id] = n;
  for (const ValueId id : graph.outputs) last[id] = ~std::size_t{0};
  return last;
}

Result<std::vector<Tensor>> interpret(const Graph& graph, std::vector<Tensor> inputs,
                                      const InterpretOptions& options) {
  WEFT_OK(check_inputs(graph, inputs));
  std::vector<std::optional<Tensor>> values(graph.values.size());
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    held += inputs[i].byte_count();
    values[graph.input_ids[i]] = std::move(inputs[i]);
  }
  const auto value_of = [&](ValueId id) -> const Tensor* {
    if (id == no_value) return nullptr;
    if (values[id]) return &*values[id];
    return graph.values[id].constant ? &*graph.values[id].constant : nullptr;
  };
  const std::vector<std::size_t> last = last_uses(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::vector<const Tensor*> given;
    for (const ValueId id : node.inputs) given.push_back(value_of(id));
    WEFT_ASSIGN(auto outputs, run_node(graph, node, given, false));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == no_value) continue;
      held += outputs[i]->byte_count();
      if (held > options.bytes_max)
        return fail(ErrorCode::resource_exhausted,
                    "Node '{}' ({}): the tensors that exist at one time take more than {} bytes.",
                    node.name, node.op, options.bytes_max);
      values[id] = std::move(outputs[i]);
      if (options.after) options.after(node, id, *values[id]);
    }
    for (const ValueId id : node.inputs) {
      if (id == no_value || last[id] != n || !values[id]) continue;
      held -= std::min(held, values[id]->byte_count());
      values[id].reset();
    }
  }
  std::vector<Tensor> out;
  for (const ValueId id : graph.outputs) {
    const Tensor* tensor = value_of(id);
    if (tensor == nullptr)
      return fail(ErrorCode::internal, "The output '{}' was not computed.", graph.name(id));
    out.push_back(*tensor);
  }
  return out;
}

}  // namespace weft::onnx
