// Infers the results of a run before it runs: the type and shape of every value, and the contents
// of small tensors that follow from constants and shapes alone.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct Inference {
  // The inferred values, indexed by ValueId. nullopt means that the shape depends on values that
  // are known only during a run. If a tensor has bytes, the value is known before the run.
  std::vector<std::optional<Tensor>> values;
};

// `inputs` may lack bytes. Fails with the error of the first node whose inputs do not fit.
[[nodiscard]] Result<Inference> infer(const Graph& graph, std::vector<Tensor> inputs);

// Returns the inputs of the graph as tensors without bytes. Dimensions without a size get the size
// `otherwise`.
[[nodiscard]] Result<std::vector<Tensor>> input_shapes(const Graph& graph,
                                                       std::int64_t otherwise = 1);

// The work and the memory of one run, computed from the shapes.
struct RunCost {
  std::uint64_t multiply_adds = 0;    // The multiply-adds of convolutions and matrix products.
  std::uint64_t parameter_count = 0;  // The number of elements in all constants.
  std::uint64_t parameter_bytes = 0;
  std::uint64_t activation_bytes = 0;  // The most bytes of activations that exist at once.
  bool complete = true;                // False if some shapes are known only during a run.
};
// Returns the multiply-adds of one node; 0 if its shapes are not known or if it multiplies nothing.
[[nodiscard]] std::uint64_t multiply_adds_of(const Inference& inference, const Node& node);
[[nodiscard]] RunCost cost_of(const Graph& graph, const Inference& inference);

}  // namespace weft::onnx
