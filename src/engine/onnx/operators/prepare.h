// From a model to a graph that can run: names become numbers, every node is checked against the
// table of operators, what is constant is computed once, and what no output needs is left out.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct PrepareOptions {
  std::vector<std::pair<std::string, std::int64_t>> sizes =
      {};  // Symbols of input shapes, by name.
  // Constants larger than this are computed when the graph runs.
  std::uint64_t folded_bytes_max = std::uint64_t{64} << 20;
  bool fold = true;  // Off: every node of the file stays, constants are computed at run time.
  bool keep_unused = false;  // On: nodes that no output needs stay.
};

// Fails with unsupported or invalid_argument and one sentence that names the node.
[[nodiscard]] Result<Graph> prepare(Model model, const PrepareOptions& options = {});

// Runs one node. `inputs` holds a null for each one that is not given.
[[nodiscard]] Result<std::vector<std::optional<Tensor>>> run_node(
    const Graph& graph, const Node& node, std::span<const Tensor* const> inputs, bool shapes_only);

}  // namespace weft::onnx
