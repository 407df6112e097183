// Checks a float matrix product without doing it: Freivalds' check with a Gaussian vector, for
// products that are right up to rounding. For r with independent standard normal elements, row i of
// d = C r - A (B r) is normal with the standard deviation |E_i|, the Euclidean norm of row i of the
// error E = C - A B, whatever the source of that error. So the check asks |d_i| <= z t_i, where t_i
// bounds |E_i| for every honest product:
//
//   A sum of k products in any order, with or without fused multiply-add, is off by at most g_k sum
//   |a_il| |b_lj|, with g_k = k u / (1 - k u) and u the unit roundoff (N. Higham, Accuracy and
//   Stability of Numerical Algorithms, 2002, section 3.1); that sum is at most |a_i| |b_j| (Cauchy
//   and Schwarz), and so  t_i = g_k |a_i| |B|_F + u_out |c_i| + k 2^-126 sqrt(n), u_out being the
//   rounding of the stored product and the last term for devices that flush subnormal numbers to
//   zero.
//
// An honest product is refused with probability at most rounds * m * P(|N(0, 1)| > 9) < rounds * m
// * 2.3e-19. A product whose row i is off by |E_i| = f t_i passes with probability at most (9
// sqrt(2 / pi) / f)^rounds: 4 rounds miss an error of 1000 t_i once in 3 * 10^8 times, and f for
// one element off by a typical product is of the order 1 / (g_k sqrt(n)). Errors below 9 t_i are
// not seen, because they cannot be told from rounding.
//
// Only its benchmark and the tests of the engine's kernels use this check. The coordinator does not
// check float products with it.
#pragma once

#include <cstdint>
#include <span>

namespace weft::proof {

struct FloatProduct {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  std::span<const float> a;  // [m][k]
  std::span<const float> b;  // [k][n]
  std::span<const float> c;  // [m][n]
};

struct Rounding {
  double unit = 0x1p-24;   // The roundoff of products and sums: f32; 0x1p-11 for f16.
  double output_unit = 0;  // The further roundoff of C: 0x1p-11 if it is stored as f16.
};

// `seed` must be unknown to the maker of C until C was committed to. Returns false for sizes that
// do not fit and for numbers that are not finite. O(rounds (mk + kn + mn)), in double precision.
[[nodiscard]] bool freivalds_accepts(const FloatProduct& product, std::uint64_t seed,
                                     const Rounding& rounding = {}, std::uint32_t rounds = 4);

}  // namespace weft::proof
