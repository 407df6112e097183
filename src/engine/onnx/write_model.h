// Writes models as .onnx files: what read_model() reads.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

// Serialised, with all weights in it. Fails with unsupported for an attribute that was unreadable
// (a graph within a node), with resource_exhausted over protobuf's 2 GiB.
[[nodiscard]] Result<ByteVector> write_model(const Model& model);

// The graph as a model again, with the values `outputs` as its outputs. `shapes` (by ValueId; may
// lack bytes) say types and shapes of inputs and outputs.
[[nodiscard]] Model model_of(const Graph& graph, std::span<const ValueId> outputs,
                             std::span<const std::optional<Tensor>> shapes);

}  // namespace weft::onnx
