// Helpers that the kernels of convolutions share. Private to the folder.
#pragma once

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

inline constexpr std::int64_t convolution_lanes = 64;  // Threads of a workgroup.

// Returns the label of a kernel, such as "Conv+Relu".
[[nodiscard]] std::string convolution_label(const Node& node, const Epilogue& epilogue);
// Returns the value that a kernel writes: the output of the last fused node.
[[nodiscard]] ValueId last_output(const Node& node, const Epilogue& epilogue);
// Returns statements that add the bias of output channel `place_out` to `total`, apply `epilogue`
// and store the result as element `o`. Adds their bindings to `text`. Returns nullopt if a fused
// node has no text.
[[nodiscard]] std::optional<std::string> result_text(const KernelContext& context, const Node& node,
                                                     const Call& call, const Epilogue& epilogue,
                                                     KernelText& text);
// Packs weights as [group][block of channels][tap][channel in][channel of the block]. `tile` is the
// number of channels of a block; zeros fill the last block.
[[nodiscard]] std::shared_ptr<const std::vector<std::uint32_t>> packed_weights(
    const ConvolutionPlan& plan, const std::vector<std::uint32_t>& words, std::int64_t tile);

}  // namespace weft::onnx
