// Sums in f64 and random numbers for the tests of kernels. They have a source of their own because
// the sources of tests are compiled without optimisation, in which they would be slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::kernels::reference {

// A sum of products in f64, and the sum of their magnitudes, which bounds the rounding errors of
// f32.
struct ExactSum {
  double sum = 0;
  double magnitudes = 0;
};
// Returns the exact sum of a[i] * b[i]; a and b have the same size.
[[nodiscard]] ExactSum exact_sum(std::span<const float> a, std::span<const float> b);

// Returns numbers of a normal distribution around 0. The same seed gives the same numbers.
[[nodiscard]] std::vector<float> normal_floats(std::size_t count, std::uint32_t seed,
                                               float deviation);

}  // namespace weft::kernels::reference
