// Finds the inputs of nodes that are settings (sizes, axes, counts) and not operands. Their values
// belong to a plan.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

// True for an input that must be known when a plan is made and that no kernel reads.
[[nodiscard]] bool is_setting(const Node& node, std::size_t input);

// Returns, for each of the graph's inputs in order, true if a setting of some node may follow from
// its values.
[[nodiscard]] std::vector<bool> telling_inputs(const Graph& graph);

}  // namespace weft::onnx
