// Checks an integer matrix product without doing it (R. Freivalds, 1977): C * r == A * (B * r) for
// random vectors r modulo the prime 2^61 - 1. One round misses a wrong product with probability at
// most 1 / (2^61 - 1).
#pragma once

#include <cstdint>
#include <span>

#include "common/base/result.h"

namespace weft::proof {

struct MatrixProduct {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  std::span<const std::int8_t> a;   // [m][k]
  std::span<const std::int8_t> b;   // [k][n]
  std::span<const std::int32_t> c;  // [m][n]
};

// `seed` must be unknown to the maker of C until C was committed to. O(mk + kn + mn).
[[nodiscard]] bool freivalds_accepts(const MatrixProduct& product, std::uint64_t seed);

}  // namespace weft::proof
