// Kernels of convolutions.
#pragma once

#include "engine/onnx/gpu/convolution_tiles.h"
#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

[[nodiscard]] MaybeKernels convolution_kernels(const KernelContext& context, const Node& node,
                                               const Call& call, const Epilogue& epilogue);

}  // namespace weft::onnx
