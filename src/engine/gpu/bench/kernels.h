// Plain matrix kernels for the bench: good WGSL without tuning, so that the numbers say what a
// device gives a kernel that knows little about it. (Those that a model runs on are in
// engine/kernels.)
//
// Weights are row-major. f16 and int8 accumulate in f32 and i32 (the matrix product first 32 terms
// at a time in f16).
#pragma once

#include <cstdint>

#include "engine/gpu/measure.h"

namespace weft::gpu::bench {

struct Shape {
  std::uint32_t m = 1;  // Rows of the result and of A.
  std::uint32_t n = 1;  // Columns of the result, rows of B.
  std::uint32_t k = 1;
};

// y[n] = sum over k of W[n][k] x[k]; m is 1. n is a multiple of 128, k of 64. buffers: x, y, then
// copies of W, as many as make `resident_bytes`, used in turn.
[[nodiscard]] Async<Result<Workload>> create_matvec(Device& device, Arithmetic arithmetic,
                                                    Shape shape, std::uint64_t resident_bytes);
// C[m][n] = sum over k of A[m][k] B[n][k]. m and n are multiples of 64, k of 64. buffers: A, B, C.
[[nodiscard]] Async<Result<Workload>> create_matmul(Device& device, Arithmetic arithmetic,
                                                    Shape shape);

// Bytes of one matrix element.
[[nodiscard]] std::uint64_t element_bytes(Arithmetic arithmetic);

}  // namespace weft::gpu::bench
