// Sums of products in f32, in an order that SIMD likes: 32 partial sums.
#pragma once

#include <cstddef>
#include <span>

namespace weft::kernels::reference {

// a and b have the same size. Relative error about size / 32 * 2^-24 of the sum of magnitudes.
[[nodiscard]] float dot(std::span<const float> a, std::span<const float> b);
// y += scale * x.
void add_scaled(std::span<float> y, std::span<const float> x, float scale);

}  // namespace weft::kernels::reference
