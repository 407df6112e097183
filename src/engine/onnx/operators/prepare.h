// Turns a model into a graph that can run: names become numbers, every node is checked against the
// table of operators, constant nodes are computed once, and nodes that no output needs are removed.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct PrepareOptions {
  std::vector<std::pair<std::string, std::int64_t>> sizes =
      {};  // Sizes for symbols of input shapes, by name.
  // Constant values larger than this are computed when the graph runs, not when it is prepared.
  std::uint64_t folded_bytes_max = std::uint64_t{64} << 20;
  bool fold = true;          // False: all nodes stay; constants are computed at run time.
  bool keep_unused = false;  // True: nodes that no output needs stay.
};

// Fails with unsupported or invalid_argument; the message is one sentence that names the node.
[[nodiscard]] Result<Graph> prepare(Model model, const PrepareOptions& options = {});

// Runs one node. `inputs` holds a null for each input that is not given.
[[nodiscard]] Result<std::vector<std::optional<Tensor>>> run_node(
    const Graph& graph, const Node& node, std::span<const Tensor* const> inputs, bool shapes_only);

}  // namespace weft::onnx
