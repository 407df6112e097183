// Cuts a graph into parts that run in turn on different devices. Each device hands values to the
// next device.
#pragma once

#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

// Nodes [first, last) of a graph as a separate graph.
struct Part {
  Graph graph;
  // The number that each input and output of the part has in the whole graph, in order.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // All values of the part that later parts or the caller need.
};
[[nodiscard]] Part part_of(const Graph& graph, const Inference& inference, std::size_t first,
                           std::size_t last);

// The places at which balanced_cuts() cuts a graph into `parts` parts, so that the parts take about
// the same work and few bytes cross from one part to the next. There are parts - 1 cuts, or fewer
// if the graph has too few places to cut.
struct CutCost {
  std::vector<std::size_t> places;            // Index of the node after each cut, ascending.
  std::vector<double> work;                   // Share of all multiply-adds and bytes, by part.
  std::vector<std::uint64_t> crossing_bytes;  // Bytes that cross each cut, by place.
};
[[nodiscard]] CutCost balanced_cuts(const Graph& graph, const Inference& inference,
                                    std::size_t parts);

// Returns the bytes of the values that nodes before `place` compute and that nodes from `place` on,
// or the caller, read.
[[nodiscard]] std::uint64_t crossing_bytes(const Graph& graph, const Inference& inference,
                                           std::size_t place);

}  // namespace weft::onnx
