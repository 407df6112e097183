// Plain matrix kernels for the bench: good WGSL without tuning, so that the rates show what a
// device achieves with a kernel that is not made for it. (The kernels of the models are in
// engine/kernels.)
//
// Weights are row-major. f16 and int8 products accumulate in f32 and i32; the f16 matrix product
// first adds up 32 terms in f16.
#pragma once

#include <cstdint>

#include "engine/gpu/measure.h"

namespace weft::gpu::bench {

struct Shape {
  std::uint32_t m = 1;  // Rows of the result and of A.
  std::uint32_t n = 1;  // Columns of the result, rows of B.
  std::uint32_t k = 1;
};

// y[n] = sum over k of W[n][k] x[k]; m is 1, n is a multiple of 128, k of 64. The buffers are x, y,
// and as many copies of W as make `resident_bytes`, which are used in turn.
[[nodiscard]] Async<Result<Workload>> create_matvec(Device& device, Arithmetic arithmetic,
                                                    Shape shape, std::uint64_t resident_bytes);
// C[m][n] = sum over k of A[m][k] B[n][k]. m, n and k are multiples of 64. The buffers are A, B and
// C.
[[nodiscard]] Async<Result<Workload>> create_matmul(Device& device, Arithmetic arithmetic,
                                                    Shape shape);

// Returns the size of one matrix element in bytes.
[[nodiscard]] std::uint64_t element_bytes(Arithmetic arithmetic);

}  // namespace weft::gpu::bench
