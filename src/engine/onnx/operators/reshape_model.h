// Changes a model to take inputs of other sizes. A model is exported for one size: the target
// shapes of its reshapes contain that size, and the grids that are added to a detector's results
// are constants of that size.
#pragma once

#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

struct Reshaped {
  Graph graph;
  // Sentences about the constants that were rebuilt, for a user to check.
  std::vector<std::string> changes;
};
// Changes `graph` to take inputs of `shapes` (type and shape of each input; the tensors may lack
// bytes). Targets of Reshape, sizes of Resize and ends of Slice follow the new sizes of the values
// around them. A constant operand that is as large as a dimension that changes is rebuilt if its
// values are all equal or grow evenly along the dimension. Fails with unsupported and the node's
// name if a node cannot be changed.
[[nodiscard]] Result<Reshaped> reshape_model(Graph graph, std::vector<Tensor> shapes);

}  // namespace weft::onnx
