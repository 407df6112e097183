// Functions of one number that models put between their matrices.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace weft::kernels::reference {

[[nodiscard]] inline float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
[[nodiscard]] inline float silu(float x) { return x * sigmoid(x); }
// log(1 + exp(x)), without overflow.
[[nodiscard]] inline float softplus(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// out[i] = silu(gate[i]) * up[i]. out may be either.
inline void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = silu(gate[i]) * up[i];
}

}  // namespace weft::kernels::reference
