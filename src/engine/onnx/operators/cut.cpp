#include "engine/onnx/operators/cut.h"

#include <algorithm>
#include <limits>
#include <map>

namespace weft::onnx {
namespace {

// The number of multiply-adds that take as long as moving one byte in memory.
constexpr double adds_of_a_byte = 8;
// The number of multiply-adds that a device computes while a link moves one byte. It converts the
// bytes that a part hands over to multiply-adds, which are added to the work of the part.
constexpr double adds_of_a_sent_byte = 200;
// The most places that are tried. A graph with more nodes is cut only at every second, third, ...
// node.
constexpr std::size_t places_max = 512;

std::vector<double> node_work(const Graph& graph, const Inference& inference) {
  std::vector<double> out;
  for (const Node& node : graph.nodes) {
    double bytes = 0;
    for (const auto* list : {&node.inputs, &node.outputs})
      for (const ValueId id : *list)
        if (id != no_value && inference.values[id])
          bytes += static_cast<double>(inference.values[id]->byte_count());
    out.push_back(bytes * adds_of_a_byte + static_cast<double>(multiply_adds_of(inference, node)));
  }
  return out;
}

}  // namespace

std::uint64_t crossing_bytes(const Graph& graph, const Inference& inference, std::size_t place) {
  std::vector<bool> made(graph.values.size()), counted(graph.values.size());
  for (const ValueId id : graph.input_ids) made[id] = true;
  for (std::size_t n = 0; n < place; ++n)
    for (const ValueId id : graph.nodes[n].outputs)
      if (id != no_value) made[id] = true;
  std::uint64_t bytes = 0;
  const auto count = [&](ValueId id) {
    if (id == no_value || !made[id] || counted[id]) return;
    counted[id] = true;
    if (inference.values[id]) bytes += inference.values[id]->byte_count();
  };
  for (std::size_t n = place; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].inputs) count(id);
  return bytes;
}

Part part_of(const Graph& graph, const Inference& inference, std::size_t first, std::size_t last) {
  Part out;
  out.graph.opset = graph.opset;
  std::map<ValueId, ValueId> ids;
  const auto id_of = [&](ValueId id) -> ValueId {
    if (id == no_value) return no_value;
    const auto [place, is_new] = ids.emplace(id, static_cast<ValueId>(out.graph.values.size()));
    if (is_new) out.graph.values.push_back(graph.values[id]);
    return place->second;
  };
  std::vector<bool> made(graph.values.size()), taken(graph.values.size());
  for (std::size_t n = first; n < last; ++n) {
    const Node& node = graph.nodes[n];
    Node copy{.name = node.name,
              .op = node.op,
              .inputs = {},
              .outputs = {},
              .attributes = node.attributes};
    for (const ValueId id : node.inputs) {
      copy.inputs.push_back(id_of(id));
      if (id == no_value || made[id] || taken[id] || graph.values[id].constant) continue;
      taken[id] = true;
      out.inputs.push_back(id);
    }
    for (const ValueId id : node.outputs) {
      copy.outputs.push_back(id_of(id));
      if (id != no_value) made[id] = true;
    }
    out.graph.nodes.push_back(std::move(copy));
  }
  std::vector<bool> needed(graph.values.size());
  for (const ValueId id : graph.outputs) needed[id] = true;
  for (std::size_t n = last; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].inputs)
      if (id != no_value) needed[id] = true;
  for (ValueId id = 0; id < made.size(); ++id)
    if (made[id] && needed[id]) out.outputs.push_back(id);
  for (const ValueId id : out.inputs) {
    ValueInfo info{.name = graph.name(id), .type = ElementType::f32, .shape = std::nullopt};
    if (const auto& value = inference.values[id]) {
      info.type = value->type();
      info.shape.emplace();
      for (const std::int64_t size : value->shape())
        info.shape->push_back({.size = size, .symbol = {}});
    }
    out.graph.inputs.push_back(std::move(info));
    out.graph.input_ids.push_back(id_of(id));
  }
  for (const ValueId id : out.outputs) out.graph.outputs.push_back(id_of(id));
  return out;
}

CutCost balanced_cuts(const Graph& graph, const Inference& inference, std::size_t parts) {
  const std::vector<double> work = node_work(graph, inference);
  const std::size_t nodes = work.size();
  std::vector<double> before = {0};
  for (const double here : work) before.push_back(before.back() + here);
  std::vector<std::size_t> places = {0};
  const std::size_t step = std::max<std::size_t>(1, (nodes + places_max - 1) / places_max);
  for (std::size_t place = step; place < nodes; place += step) places.push_back(place);
  places.push_back(nodes);
  std::vector<double> sent;
  for (const std::size_t place : places)
    sent.push_back(place == 0 || place == nodes
                       ? 0
                       : adds_of_a_sent_byte *
                             static_cast<double>(crossing_bytes(graph, inference, place)));
  parts = std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(1, places.size() - 1));
  // best[p][k] is the least time of the slowest of p parts that end at places[k].
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(parts + 1, std::vector<double>(places.size(), never));
  std::vector<std::vector<std::size_t>> from(parts + 1, std::vector<std::size_t>(places.size()));
  best[0][0] = 0;
  for (std::size_t p = 1; p <= parts; ++p)
    for (std::size_t k = p; k < places.size(); ++k)
      for (std::size_t j = p - 1; j < k; ++j) {
        const double time =
            std::max(best[p - 1][j], before[places[k]] - before[places[j]] + sent[k]);
        if (time < best[p][k]) {
          best[p][k] = time;
          from[p][k] = j;
        }
      }
  CutCost out;
  std::size_t k = places.size() - 1;
  std::vector<std::size_t> ends = {k};
  for (std::size_t p = parts; p > 1; --p) {
    k = from[p][k];
    ends.push_back(k);
  }
  std::ranges::reverse(ends);
  std::size_t start = 0;
  for (const std::size_t end : ends) {
    out.work.push_back(before.back() == 0 ? 0
                                          : (before[places[end]] - before[start]) / before.back());
    start = places[end];
    if (places[end] == nodes) continue;
    out.places.push_back(places[end]);
    out.crossing_bytes.push_back(crossing_bytes(graph, inference, places[end]));
  }
  return out;
}

}  // namespace weft::onnx
