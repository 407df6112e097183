// Sizes of the models whose kernels are measured.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::kernels {

struct BenchModel {
  std::string_view name;
  std::uint32_t hidden, heads, kv_heads, head_dim, feed_forward, layers;
  [[nodiscard]] std::uint32_t qkv() const { return (heads + 2 * kv_heads) * head_dim; }
};
inline constexpr BenchModel bench_models[] = {{"Llama 3.2 1B", 2048, 32, 8, 64, 8192, 16},
                                              {"Qwen2.5 0.5B", 896, 14, 2, 64, 4864, 24},
                                              {"TinyLlama 1.1B", 2048, 32, 4, 64, 5632, 22}};

}  // namespace weft::kernels
