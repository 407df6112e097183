#include "engine/onnx/gpu/half_values.h"

#include <algorithm>
#include <cmath>

#include "engine/onnx/gpu/region.h"
#include "engine/onnx/gpu/stored_kernel.h"

namespace weft::onnx {
namespace {

// The least number of elements of weights that are stored in 16 bits. Smaller weights would save
// little memory.
constexpr std::int64_t weights_least = 256;

bool is_weight(const Node& node, ValueId id) {
  return (node.op == "Conv" || node.op == "ConvTranspose" || node.op == "MatMul" ||
          node.op == "Gemm") &&
         node.inputs.size() > 1 && node.inputs[1] == id;
}

// True for constants that only products read. Kernels that reorder weights keep their own copies
// and do not read these values.
bool is_half_weight(const Graph& graph, ValueId id) {
  const auto& value = graph.values[id].constant;
  if (!value || !value->has_bytes() || value->type() != ElementType::f32 ||
      value->count() < weights_least || std::ranges::contains(graph.outputs, id))
    return false;
  bool is_read = false;
  for (const Node& node : graph.nodes) {
    if (!std::ranges::contains(node.inputs, id)) continue;
    if (!is_weight(node, id) || std::ranges::count(node.inputs, id) != 1) return false;
    is_read = true;
  }
  return is_read && std::ranges::all_of(value->values<float>(),
                                        [](float number) { return std::abs(number) <= half_max; });
}

}  // namespace

std::vector<bool> full_values(const KernelContext& context, const Schedule& schedule,
                              std::size_t barrier) {
  const Graph& graph = context.graph;
  std::vector<bool> full(graph.values.size());
  for (ValueId id = 0; id < full.size(); ++id) {
    const auto& value = context.inference.values[id];
    full[id] = !value || value->has_bytes() || !is_float(value->type());
  }
  for (const ValueId id : graph.input_ids) full[id] = true;
  for (const ValueId id : graph.outputs) full[id] = true;
  for (std::size_t n = barrier; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].inputs)
      if (id != no_value &&
          std::ranges::any_of(
              graph.nodes.begin(), graph.nodes.begin() + static_cast<std::ptrdiff_t>(barrier),
              [&](const Node& node) { return std::ranges::contains(node.outputs, id); }))
        full[id] = true;
  // Values that share memory with `full` values, and parts of concatenations with `full` results,
  // become `full`, even if a part cannot be placed in the result: the placement depends on the rest
  // of the graph, and this choice must not.
  const auto share_memory = [&] {
    std::vector<bool> memory(full.size());
    for (ValueId id = 0; id < full.size(); ++id)
      if (full[id]) memory[schedule.alias_of[id]] = true;
    for (ValueId id = 0; id < full.size(); ++id) full[id] = memory[schedule.alias_of[id]];
  };
  share_memory();
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const ValueId whole = node.outputs[0];
    if (whole == no_value || !full[whole] || !context.inference.values[whole] ||
        !joins_end_to_end(context, node))
      continue;
    for (const ValueId id : node.inputs) full[id] = true;
    share_memory();
  }
  return full;
}

std::vector<bool> half_values(const KernelContext& context, const std::vector<bool>& full) {
  std::vector<bool> half(full.size());
  for (ValueId id = 0; id < full.size(); ++id)
    half[id] = !full[id] || is_half_weight(context.graph, id);
  return half;
}

}  // namespace weft::onnx
