#include "engine/onnx/operators/quantise_weights.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// The first opset in which DequantizeLinear has an axis.
constexpr std::int64_t opset_of_axis = 13;
constexpr double levels = 127;

struct Quantised {
  Tensor integers;
  Tensor scales;
  double error_max = 0;
};
// Quantises symmetrically: 0 stays 0, and the largest weight of a channel becomes 127 or -127.
Quantised quantised(const Tensor& weights, std::int64_t axis) {
  const AxisView view(weights.shape(), axis);
  const auto values = weights.values<float>();
  std::vector<float> scales(static_cast<std::size_t>(view.length));
  const auto channel_of = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(i) / view.after % view.length);
  };
  for (std::size_t i = 0; i < values.size(); ++i)
    scales[channel_of(i)] = std::max(scales[channel_of(i)], std::abs(values[i]));
  for (float& scale : scales) scale = scale > 0 ? static_cast<float>(scale / levels) : 1.0f;
  std::vector<std::int8_t> integers(values.size());
  Quantised out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scale = scales[channel_of(i)];
    integers[i] = static_cast<std::int8_t>(
        std::clamp(std::nearbyint(static_cast<double>(values[i]) / scale), -levels, levels));
    out.error_max =
        std::max(out.error_max,
                 std::abs(integers[i] * scale - static_cast<double>(values[i])) / (scale * levels));
  }
  out.integers = Tensor::of<std::int8_t>(weights.shape(), integers);
  out.scales = Tensor::of<float>({view.length}, scales);
  return out;
}

// Returns the dimension of a node's weights that counts its output channels, or nullopt for a node
// without weights.
std::optional<std::int64_t> channel_axis(const Node& node, const Tensor& weights) {
  if (node.op == "Conv") return 0;
  if (node.op == "ConvTranspose") return 1;
  if (node.op == "MatMul" && weights.rank() >= 2) return weights.rank() - 1;
  if (node.op == "Gemm") {
    const auto found = node.attributes.find("transB");
    const bool transposed =
        found != node.attributes.end() && std::get<std::int64_t>(found->second) != 0;
    return transposed ? 0 : 1;
  }
  return std::nullopt;
}

std::uint64_t constant_bytes(const Graph& graph) {
  std::vector<bool> used(graph.values.size());
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.inputs)
      if (id != no_value) used[id] = true;
  std::uint64_t bytes = 0;
  for (std::size_t id = 0; id < used.size(); ++id)
    if (used[id] && graph.values[id].constant) bytes += graph.values[id].constant->byte_count();
  return bytes;
}

}  // namespace

Result<QuantisedWeights> quantise_weights(Graph graph, std::span<const std::string> kept,
                                          std::int64_t elements_min) {
  if (graph.opset < opset_of_axis)
    return fail(ErrorCode::unsupported,
                "The model is of opset {}; scales for each channel need opset {} or later.",
                graph.opset, opset_of_axis);
  for (const std::string& name : kept)
    if (std::ranges::none_of(graph.nodes, [&](const Node& node) { return node.name == name; }))
      return fail(ErrorCode::invalid_argument, "The model has no node '{}'.", name);
  QuantisedWeights out{.graph = {}, .bytes_before = constant_bytes(graph)};
  std::vector<Node> nodes;
  std::map<ValueId, ValueId> floats;  // For each weight, its dequantised value.
  const auto add_value = [&](std::string name, std::optional<Tensor> constant) {
    graph.values.push_back({.name = std::move(name), .constant = std::move(constant)});
    return static_cast<ValueId>(graph.values.size() - 1);
  };
  for (Node& node : graph.nodes) {
    const bool has_weights = node.inputs.size() > 1 && node.inputs[1] != no_value &&
                             graph.values[node.inputs[1]].constant &&
                             !std::ranges::contains(kept, node.name);
    if (has_weights) {
      const ValueId id = node.inputs[1];
      const Tensor weights = *graph.values[id].constant;
      const auto axis = channel_axis(node, weights);
      if (axis && weights.type() == ElementType::f32 && weights.count() >= elements_min) {
        auto place = floats.find(id);
        if (place == floats.end()) {
          Quantised made = quantised(weights, *axis);
          out.error_max = std::max(out.error_max, made.error_max);
          ++out.tensors;
          const std::string name = graph.name(id);
          const ValueId integers = add_value(name + "_i8", std::move(made.integers));
          const ValueId scales = add_value(name + "_scale", std::move(made.scales));
          place = floats.emplace(id, add_value(name + "_f32", std::nullopt)).first;
          nodes.push_back({.name = name + "_dequantized",
                           .op = "DequantizeLinear",
                           .inputs = {integers, scales},
                           .outputs = {place->second},
                           .attributes = {{"axis", *axis}}});
        }
        node.inputs[1] = place->second;
      }
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  out.bytes_after = constant_bytes(graph);
  out.graph = std::move(graph);
  return out;
}

}  // namespace weft::onnx
