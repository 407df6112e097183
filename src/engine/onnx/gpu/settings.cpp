#include "engine/onnx/gpu/settings.h"

#include <algorithm>

namespace weft::onnx {

bool is_setting(const Node& node, std::size_t input) {
  // Operators whose inputs after the first are all settings.
  static constexpr std::string_view with_settings[] = {
      "CumSum",  "Dropout", "Expand", "Reshape", "Resize",    "Slice",   "Split",
      "Squeeze", "Tile",    "TopK",   "Trilu",   "Unsqueeze", "Upsample"};
  if (node.op == "Range" || node.op == "ConstantOfShape") return true;
  if (input == 0) return false;
  if (node.op == "Pad") return input != 2;
  if (node.op == "OneHot") return input == 1;
  if (node.op == "NonMaxSuppression") return input >= 2;
  return node.op.starts_with("Reduce") || std::ranges::contains(with_settings, node.op);
}

std::vector<bool> telling_inputs(const Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    // Shape and Size need only the shape of their input, which every plan knows.
    const bool only_shape = node.op == "Shape" || node.op == "Size";
    const bool all = !only_shape && std::ranges::any_of(node.outputs, [&](ValueId id) {
      return id != no_value && needed[id];
    });
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] != no_value && (all || is_setting(node, i))) needed[node.inputs[i]] = true;
  }
  std::vector<bool> out;
  for (const ValueId id : graph.input_ids) out.push_back(needed[id]);
  return out;
}

}  // namespace weft::onnx
