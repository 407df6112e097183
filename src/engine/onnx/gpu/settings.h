// Which inputs say what is to be done instead of being computed with: sizes, axes, how many. Their
// values belong to a plan.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

// True for an input that is known when a plan is made and that no kernel reads.
[[nodiscard]] bool is_setting(const Node& node, std::size_t input);

// By place among the graph's inputs: true if a setting of some node may follow from its values.
[[nodiscard]] std::vector<bool> telling_inputs(const Graph& graph);

}  // namespace weft::onnx
