// The activation functions of a feed-forward's gates, in shaders.
#pragma once

#include <string_view>

#include "engine/kernels/reference/activation.h"

namespace weft::kernels {

// The WGSL functions gate(x: f32) and gate4(x: vec4f).
[[nodiscard]] constexpr std::string_view gate_wgsl(Activation activation) {
  switch (activation) {
    case Activation::silu:
      return "fn gate(x: f32) -> f32 { return x / (1.0 + exp(-x)); }\n"
             "fn gate4(x: vec4f) -> vec4f { return x / (1.0 + exp(-x)); }\n";
    case Activation::gelu:
      break;
  }
  return "fn gate(x: f32) -> f32 { return x / (1.0 + exp(-1.5957691216 * (x + 0.044715 * x * x * "
         "x))); }\n"
         "fn gate4(x: vec4f) -> vec4f { return x / (1.0 + exp(-1.5957691216 * (x + 0.044715 * x * "
         "x * x))); }\n";
}

}  // namespace weft::kernels
