// Stores weights as 8-bit integers with a scale for each output channel, which takes a quarter of
// the bytes. Opening the model turns them back into floats, because the DequantizeLinear nodes are
// constant.
#pragma once

#include "engine/onnx/graph.h"

namespace weft::onnx {

struct QuantisedWeights {
  Graph graph;
  std::size_t tensors = 0;         // Number of tensors that were quantised.
  std::uint64_t bytes_before = 0;  // The size of all constants in bytes.
  std::uint64_t bytes_after = 0;
  double error_max = 0;  // The largest error, relative to the largest weight of its channel.
};
// Quantises constant f32 weights of Conv, ConvTranspose, Gemm and MatMul that have at least
// `elements_min` elements. Nodes named in `kept` keep their f32 weights; use it for the last
// products of a detector's head.
[[nodiscard]] Result<QuantisedWeights> quantise_weights(Graph graph,
                                                        std::span<const std::string> kept = {},
                                                        std::int64_t elements_min = 256);

}  // namespace weft::onnx
