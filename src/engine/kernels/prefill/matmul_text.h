// The statements of the subgroup-matrix kernel that go over matrices one by one: written out, since
// matrices live in registers only as long as none is picked by a number that the compiler does not
// know.
#pragma once

#include <string>

#include "engine/kernels/prefill/matmul.h"

namespace weft::kernels {

// matmul_matrices.wgsl with its //@ lines replaced.
[[nodiscard]] std::string matmul_matrices_text(const MatmulSpec& spec, const MatmulTuning& tuning);

}  // namespace weft::kernels
