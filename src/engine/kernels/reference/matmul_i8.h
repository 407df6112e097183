// The integer matrix product in plain C++: the reference of the GPU kernel, and the implementation
// for workers without a GPU.
#pragma once

#include <cstdint>
#include <span>

namespace weft::kernels {

struct MatmulShape {
  std::uint32_t rows = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

}  // namespace weft::kernels

namespace weft::kernels::reference {

// Computes c[rows][n] = a[rows][k] * b[k][n].
void matmul_i8(const MatmulShape& shape, std::span<const std::int8_t> a,
               std::span<const std::int8_t> b, std::span<std::int32_t> c);

}  // namespace weft::kernels::reference
