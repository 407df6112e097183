// What tests hold kernels against and would compute slowly themselves, since sources of tests are
// not optimised: sums in f64, and random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::kernels::reference {

// A sum of products in f64, and the sum of their magnitudes, which bounds what f32 may lose.
struct ExactSum {
  double sum = 0;
  double magnitudes = 0;
};
// a and b have the same size.
[[nodiscard]] ExactSum exact_sum(std::span<const float> a, std::span<const float> b);

// Numbers of a normal distribution around 0, the same for the same seed.
[[nodiscard]] std::vector<float> normal_floats(std::size_t count, std::uint32_t seed,
                                               float deviation);

}  // namespace weft::kernels::reference
