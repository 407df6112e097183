// Weights as 8-bit integers with a scale for each output channel: a quarter of the bytes. They are
// made floats again when the model is opened (the DequantizeLinear nodes are constant).
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct QuantisedWeights {
  Graph graph;
  std::size_t tensors = 0;         // How many became integers.
  std::uint64_t bytes_before = 0;  // Bytes of all constants.
  std::uint64_t bytes_after = 0;
  double error_max = 0;  // The largest difference, as a share of its channel's largest weight.
};
// Quantises constant f32 weights of Conv, ConvTranspose, Gemm and MatMul of at least `elements_min`
// elements. Nodes named in `kept` keep theirs: the last products of a detector's head.
[[nodiscard]] Result<QuantisedWeights> quantise_weights(Graph graph,
                                                        std::span<const std::string> kept = {},
                                                        std::int64_t elements_min = 256);

}  // namespace weft::onnx
