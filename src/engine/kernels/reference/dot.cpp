#include "engine/kernels/reference/dot.h"

#include <array>

#include "common/base/check.h"
#include "engine/kernels/reference/simd.h"

namespace weft::kernels::reference {
namespace {

WEFT_SIMD_CLONES float dot_of(const float* a, const float* b, std::size_t size) {
  constexpr std::size_t lanes = 32;
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (std::size_t lane = 0; i + lane < size; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

WEFT_SIMD_CLONES void add_scaled_to(float* y, const float* x, float scale, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) y[i] += scale * x[i];
}

}  // namespace

float dot(std::span<const float> a, std::span<const float> b) {
  check(a.size() == b.size(), "both vectors have one size");
  return dot_of(a.data(), b.data(), a.size());
}

void add_scaled(std::span<float> y, std::span<const float> x, float scale) {
  check(x.size() == y.size(), "both vectors have one size");
  add_scaled_to(y.data(), x.data(), scale, y.size());
}

}  // namespace weft::kernels::reference
