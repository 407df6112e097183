// How a layer's keys or values lie in their buffer: [slot][kv head][position][head_dim], as f32, as pairs of f16, or as int8,
// and then an f32 scale for every 32 numbers behind all of them.
#pragma once

#include <cstdint>

#include "engine/kernels/shader.h"

namespace weft::kernels {

enum class KvCacheFormat : std::uint8_t { f32, f16, q8_0 };

struct KvCacheSpec {
  KvCacheFormat format = KvCacheFormat::f16;
  std::uint32_t slots = 1;
  std::uint32_t kv_heads = 1;
  std::uint32_t context = 0;   // Positions.
  std::uint32_t head_dim = 0;  // A multiple of 4; of 32 for q8_0.

  [[nodiscard]] std::uint64_t elements() const { return std::uint64_t{slots} * kv_heads * context * head_dim; }
  // Of one buffer (keys or values).
  [[nodiscard]] std::uint64_t bytes() const;
  // Puts the constants KV_HEADS, CONTEXT, DIM and the format's text into a shader: the alias KvCell (four numbers) and, over
  // buffers `keys` and `values` of array<KvCell> that the kernel declares, key_at(i) and value_at(i) -> vec4f (i counts fours) and
  // with `writable` store_key(i, ...) and store_value().
  void describe(ShaderText& text, bool writable) const;
};

}  // namespace weft::kernels
