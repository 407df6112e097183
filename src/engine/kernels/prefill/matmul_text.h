// The statements of the subgroup-matrix kernel over its matrices, written out one by one, because
// compilers keep matrices in registers only if every index of a matrix is a constant.
#pragma once

#include <string>

#include "engine/kernels/prefill/matmul.h"

namespace weft::kernels {

// The number of sum matrices (pairs of them if the output is gated) that a subgroup stores to
// workgroup memory at a time, from which they are written to y.
[[nodiscard]] std::uint32_t matmul_patches(const MatmulSpec& spec, const MatmulTuning& tuning);
// The text of matmul_matrices.wgsl with its //@ lines replaced.
[[nodiscard]] std::string matmul_matrices_text(const MatmulSpec& spec, const MatmulTuning& tuning);

}  // namespace weft::kernels
