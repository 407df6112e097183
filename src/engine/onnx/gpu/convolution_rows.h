// Convolutions whose threads compute four neighbours of a row. A thread reads four numbers of the
// input at a time, and uses them for all taps of a row of the convolution's kernel.
#pragma once

#include "engine/onnx/gpu/convolution_tiles.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

// True if this kernel can compute the convolution: rows of the input begin at multiples of four.
// That needs two dimensions, no dilation along rows, strides of 1 or 2 along them and few taps in a
// row; or a 1x1 kernel on a plane whose size is a multiple of four.
[[nodiscard]] bool can_be_in_rows(const ConvolutionPlan& plan);

// Requires `tiles.rows` and can_be_in_rows(plan). Returns nullopt as convolution_kernels() does.
[[nodiscard]] MaybeKernels convolution_rows(const KernelContext& context, const Node& node,
                                            const Call& call, const ConvolutionPlan& plan,
                                            const ConvolutionTiles& tiles,
                                            const Epilogue& epilogue);

}  // namespace weft::onnx
