// The activation functions of models, of one number each.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::kernels {

// The activation functions of a feed-forward's gates.
enum class Activation : std::uint8_t {
  silu,  // x * sigmoid(x)
  gelu   // x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3)), GELU by its usual approximation.
};

namespace reference {

[[nodiscard]] inline float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
[[nodiscard]] inline float silu(float x) { return x * sigmoid(x); }
// GELU in its tanh form, which kernels::Activation::gelu computes, too.
[[nodiscard]] inline float gelu(float x) {
  return x * sigmoid(1.5957691216f * (x + 0.044715f * x * x * x));
}
// Returns log(1 + exp(x)), without overflow.
[[nodiscard]] inline float softplus(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// out[i] = silu(gate[i]) * up[i]. `out` may be `gate` or `up`.
inline void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = silu(gate[i]) * up[i];
}
// out[i] = gelu(gate[i]) * up[i]. `out` may be `gate` or `up`.
inline void geglu(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = gelu(gate[i]) * up[i];
}
inline void gate_up(Activation activation, std::span<const float> gate, std::span<const float> up,
                    std::span<float> out) {
  activation == Activation::silu ? swiglu(gate, up, out) : geglu(gate, up, out);
}

}  // namespace reference
}  // namespace weft::kernels
