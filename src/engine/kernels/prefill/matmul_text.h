// The statements of the subgroup-matrix kernel that go over matrices one by one: written out, since
// matrices live in registers only as long as none is picked by a number that the compiler does not
// know.
#pragma once

#include <string>

#include "engine/kernels/prefill/matmul.h"

namespace weft::kernels {

// Matrices of sums (pairs of them where the output is gated) that a subgroup puts into workgroup
// memory at a time, to write them from there.
[[nodiscard]] std::uint32_t matmul_patches(const MatmulSpec& spec, const MatmulTuning& tuning);
// matmul_matrices.wgsl with its //@ lines replaced.
[[nodiscard]] std::string matmul_matrices_text(const MatmulSpec& spec, const MatmulTuning& tuning);

}  // namespace weft::kernels
