#include "engine/kernels/reference/exact.h"

#include <array>
#include <cmath>
#include <random>

#include "common/base/check.h"
#include "engine/kernels/reference/simd.h"

namespace weft::kernels::reference {
namespace {

WEFT_SIMD_CLONES ExactSum exact_sum_of(const float* a, const float* b, std::size_t size) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{}, magnitudes{};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double one = static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
      sums[lane] += one;
      magnitudes[lane] += std::abs(one);
    }
  }
  ExactSum out;
  for (; i < size; ++i) {
    const double one = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    out.sum += one;
    out.magnitudes += std::abs(one);
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    out.sum += sums[lane];
    out.magnitudes += magnitudes[lane];
  }
  return out;
}

}  // namespace

ExactSum exact_sum(std::span<const float> a, std::span<const float> b) {
  check(a.size() == b.size(), "both vectors have one size");
  return exact_sum_of(a.data(), b.data(), a.size());
}

std::vector<float> normal_floats(std::size_t count, std::uint32_t seed, float deviation) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace weft::kernels::reference
