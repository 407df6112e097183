// Convolutions whose threads compute four neighbours of a row: the input is read four numbers at a
// time, and what is read serves all taps of the row of a kernel.
#pragma once

#include "engine/onnx/gpu/convolution_tiles.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

// True if rows of the input begin at multiples of four: two dimensions, no dilation along rows,
// strides of 1 or 2 along them, few taps in one; or a 1x1 kernel on a plane of a multiple of four.
[[nodiscard]] bool can_be_in_rows(const ConvolutionPlan& plan);

// `tiles.rows` is set and the plan can be in rows. nullopt as convolution_kernels() gives it.
[[nodiscard]] MaybeKernels convolution_rows(const KernelContext& context, const Node& node,
                                            const Call& call, const ConvolutionPlan& plan,
                                            const ConvolutionTiles& tiles,
                                            const Epilogue& epilogue);

}  // namespace weft::onnx
