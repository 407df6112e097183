// What a run will produce, before it runs: type and shape of every value, and the values of what
// carries shapes (small tensors that follow from constants and shapes alone).
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct Inference {
  // By ValueId. nullopt: its shape depends on values that only a run knows. With bytes: known.
  std::vector<std::optional<Tensor>> values;
};

// `inputs` may lack bytes. Fails as nodes do where shapes do not fit.
[[nodiscard]] Result<Inference> infer(const Graph& graph, std::vector<Tensor> inputs);

// Inputs of the graph, without bytes; what has no size becomes `otherwise`.
[[nodiscard]] Result<std::vector<Tensor>> input_shapes(const Graph& graph,
                                                       std::int64_t otherwise = 1);

// Work and memory of one run, from the shapes.
struct RunCost {
  std::uint64_t multiply_adds = 0;    // In convolutions and matrix products.
  std::uint64_t parameter_count = 0;  // Elements of constants.
  std::uint64_t parameter_bytes = 0;
  std::uint64_t activation_bytes = 0;  // The most that exist at a time, each until its last use.
  bool complete = true;                // False if some shapes are known only in a run.
};
// Those of one node; 0 where shapes are not known or nothing is multiplied.
[[nodiscard]] std::uint64_t multiply_adds_of(const Inference& inference, const Node& node);
[[nodiscard]] RunCost cost_of(const Graph& graph, const Inference& inference);

}  // namespace weft::onnx
