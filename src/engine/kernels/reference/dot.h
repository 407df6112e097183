// Sums of products in f32, in an order that suits SIMD: 32 partial sums.
#pragma once

#include <cstddef>
#include <span>

namespace weft::kernels::reference {

// Returns a . b; a and b have the same size. The error is at most about size / 32 * 2^-24 of the
// sum of the magnitudes of the products.
[[nodiscard]] float dot(std::span<const float> a, std::span<const float> b);
// Computes y += scale * x.
void add_scaled(std::span<float> y, std::span<const float> x, float scale);

}  // namespace weft::kernels::reference
