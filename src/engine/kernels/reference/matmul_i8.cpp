#include "engine/kernels/reference/matmul_i8.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::kernels::reference {

void matmul_i8(const MatmulShape& shape, std::span<const std::int8_t> a,
               std::span<const std::int8_t> b, std::span<std::int32_t> c) {
  const std::size_t n = shape.n;
  const std::size_t k = shape.k;
  check(a.size() == shape.rows * k && b.size() == k * n && c.size() == shape.rows * n,
        "matrices have the sizes of the shape");
  // The inner loop runs along a row of B and of C, which compilers turn into SIMD; k is divided
  // into blocks so that the rows of B that a pass needs stay in the processor's cache.
  constexpr std::size_t k_block = 64;
  std::ranges::fill(c, 0);
  for (std::size_t k0 = 0; k0 < k; k0 += k_block) {
    const std::size_t k1 = std::min(k, k0 + k_block);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::int32_t* out = c.data() + row * n;
      for (std::size_t inner = k0; inner < k1; ++inner) {
        // The product of two int8 fits into int16, for which SIMD multiplications are made.
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
        const auto left = static_cast<std::int16_t>(a[row * k + inner]);
        const std::int8_t* right = b.data() + inner * n;
        for (std::size_t column = 0; column < n; ++column)
          out[column] += static_cast<std::int16_t>(left * right[column]);
      }
    }
  }
}

}  // namespace weft::kernels::reference
