// Convolutions as products of matrices, computed by subgroup matrices (tensor cores) with factors
// of 16 bits and sums of 32 bits: Y[channel out][place] = W[channel out][term] * X[term][place],
// where a term is an input channel at a tap of the convolution's kernel.
//
// A workgroup computes a tile of channels and places. It copies the input of `depth` terms into its
// memory as f16, multiplies, and continues with the next terms. Its subgroups share the tile, and
// `slices` of them share the terms of the same results; their sums are added at the end.
#pragma once

#include "engine/gpu/device.h"
#include "engine/onnx/gpu/convolution_tiles.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

// The subgroup matrices of a device, and the bounds of its workgroups.
struct MatrixUnit {
  std::int64_t m = 0, n = 0, k = 0;  // m x k times k x n gives m x n.
  std::int64_t subgroup = 0;         // Threads of a subgroup.
  std::int64_t threads_max = 0;      // Threads of a workgroup.
  std::int64_t bytes_max = 0;        // Memory of a workgroup.
};
// Returns nullopt if the device has no subgroup matrices with f16 factors and f32 sums.
[[nodiscard]] std::optional<MatrixUnit> matrix_unit_of(const gpu::Device& device);

// True if a kernel with these tiles can compute the convolution: it has one group of channels, and
// the workgroup fits the device. Requires can_be_cut(tiles).
[[nodiscard]] bool can_be_in_matrices(const ConvolutionPlan& plan, const MatrixUnit& unit,
                                      const ConvolutionTiles& tiles);
// Returns the tiles that are worth measuring on a device.
[[nodiscard]] std::vector<ConvolutionTiles> matrix_candidates(const ConvolutionPlan& plan,
                                                              const MatrixUnit& unit);

// Requires can_be_in_matrices(). Only for graphs whose values are stored in 16 bits, because the
// factors are rounded to 16 bits. Returns nullopt as convolution_kernels() does, and for weights
// that 16 bits cannot hold.
[[nodiscard]] MaybeKernels convolution_matrices(const KernelContext& context, const Node& node,
                                                const Call& call, const ConvolutionPlan& plan,
                                                const ConvolutionTiles& tiles,
                                                const Epilogue& epilogue);

}  // namespace weft::onnx
