// Writes models as .onnx files, which read_model() reads.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

// Serialises a model with all of its weights. Fails with unsupported for an attribute of a kind
// that is not read (a graph within a node), and with resource_exhausted above protobuf's limit of 2
// GiB.
[[nodiscard]] Result<ByteVector> write_model(const Model& model);

// Turns a graph back into a model whose outputs are the values `outputs`. `shapes` (indexed by
// ValueId) gives the types and shapes of inputs and outputs; its tensors may lack bytes.
[[nodiscard]] Model model_of(const Graph& graph, std::span<const ValueId> outputs,
                             std::span<const std::optional<Tensor>> shapes);

}  // namespace weft::onnx
