// What the kernels of convolutions have in common. Private to the folder.
#pragma once

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

inline constexpr std::int64_t convolution_lanes = 64;  // Threads of a workgroup.

// "Conv+Relu"
[[nodiscard]] std::string convolution_label(const Node& node, const Epilogue& epilogue);
// What a kernel writes: the result of the last node that is fused.
[[nodiscard]] ValueId last_output(const Node& node, const Epilogue& epilogue);
// Weights as [group][block of channels][tap][channel in][channel of the block]; channels that fill
// the last block are zeros. `tile`: channels of a block.
[[nodiscard]] std::shared_ptr<const std::vector<std::uint32_t>> packed_weights(
    const ConvolutionPlan& plan, const std::vector<std::uint32_t>& words, std::int64_t tile);

}  // namespace weft::onnx
