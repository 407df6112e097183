// Runs the nodes of a graph in order on the processor, with plain loops. It is the reference with
// which all other ways of running a graph are compared.
#pragma once

#include <functional>

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct InterpretOptions {
  // Called once for each output of each node, after the node has run.
  std::function<void(const Node& node, ValueId id, const Tensor& value)> after = {};
  // The most bytes of values that may exist at once.
  std::uint64_t bytes_max = std::uint64_t{8} << 30;
};

// Returns the outputs in the graph's order. Fails with invalid_argument if the inputs do not have
// the number, types and shapes that the graph declares, and with the error of a node that fails.
[[nodiscard]] Result<std::vector<Tensor>> interpret(const Graph& graph, std::vector<Tensor> inputs,
                                                    const InterpretOptions& options = {});

// Checks that tensors fit the inputs of a graph. A symbol must have one size wherever it occurs.
[[nodiscard]] Result<> check_inputs(const Graph& graph, std::span<const Tensor> inputs);

// Returns for each value the index of the last node that reads it; ~0 for outputs of the graph and
// for values that no node reads.
[[nodiscard]] std::vector<std::size_t> last_uses(const Graph& graph);

}  // namespace weft::onnx
