// A graph in parts that run one after the other: what one device hands to the next.
#pragma once

#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

// Nodes [first, last) of a graph as a graph of their own.
struct Part {
  Graph graph;
  // For each input and output of the part, in order: its value in the whole graph.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // All that later parts or the caller need.
};
[[nodiscard]] Part part_of(const Graph& graph, const Inference& inference, std::size_t first,
                           std::size_t last);

// Where balanced_cuts() cuts a graph into `parts` parts: the parts take about the same work, and
// few bytes cross from one to the next. There are parts - 1 cuts, or fewer if the graph has too few
// places to cut.
struct CutCost {
  std::vector<std::size_t> places;            // The node after each cut, ascending.
  std::vector<double> work;                   // By part: its share of all multiply-adds and bytes.
  std::vector<std::uint64_t> crossing_bytes;  // By place.
};
[[nodiscard]] CutCost balanced_cuts(const Graph& graph, const Inference& inference,
                                    std::size_t parts);

// Bytes of the values that nodes before `place` make and nodes from it on read, or the caller.
[[nodiscard]] std::uint64_t crossing_bytes(const Graph& graph, const Inference& inference,
                                           std::size_t place);

}  // namespace weft::onnx
