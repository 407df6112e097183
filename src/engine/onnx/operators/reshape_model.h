// The same model for inputs of other sizes. Models are exported for one size: targets of reshapes
// hold it, and grids that are added to what a detector finds are constants of that size.
#pragma once

#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

struct Reshaped {
  Graph graph;
  // Sentences about constants that were rebuilt, for a user to look over.
  std::vector<std::string> changes;
};
// `graph` for inputs of `shapes` (type and shape of each; may lack bytes). Targets of Reshape,
// sizes of Resize and ends of Slice follow the sizes around them; a constant operand as large as a
// dimension that changes is rebuilt if it is the same everywhere or grows evenly along it. Fails
// with unsupported and the node's name otherwise.
[[nodiscard]] Result<Reshaped> reshape_model(Graph graph, std::vector<Tensor> shapes);

}  // namespace weft::onnx
