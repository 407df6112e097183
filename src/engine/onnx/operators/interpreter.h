// Runs a graph on the processor, one node after the other, by plain loops: what every other way of
// running it is held to.
#pragma once

#include <functional>

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct InterpretOptions {
  // Called after each node with each of its outputs.
  std::function<void(const Node& node, ValueId id, const Tensor& value)> after = {};
  // What may exist at a time.
  std::uint64_t bytes_max = std::uint64_t{8} << 30;
};

// Outputs in the graph's order. Fails with invalid_argument if inputs do not fit what the graph
// says (number, type, shape), and as nodes do.
[[nodiscard]] Result<std::vector<Tensor>> interpret(const Graph& graph, std::vector<Tensor> inputs,
                                                    const InterpretOptions& options = {});

// Whether tensors fit a graph's inputs; symbols take one size each.
[[nodiscard]] Result<> check_inputs(const Graph& graph, std::span<const Tensor> inputs);

// For each value the index of the last node that reads it; graph outputs and unread values: ~0.
[[nodiscard]] std::vector<std::size_t> last_uses(const Graph& graph);

}  // namespace weft::onnx
