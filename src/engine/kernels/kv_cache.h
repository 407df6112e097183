// How a layer's keys or values lie in their buffer: [slot][kv head][position][head_dim], as f32, as
// pairs of f16, or as int8, and then an f32 scale for every 32 numbers behind all of them. With
// pages: [page][kv head][position of the page][head_dim], and behind the rows' places stands which
// page of the buffer holds each page of a slot's positions.
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
  std::uint32_t page = 0;      // Positions of a page; 0: every slot has its own `context`.
  std::uint32_t pages = 0;     // Pages of all slots together.
  // The page table begins at this element of `places`: table_pages() u32 for each slot.
  std::uint32_t table_first = 0;

  [[nodiscard]] std::uint32_t table_pages() const {
    return page == 0 ? 0 : (context + page - 1) / page;
  }
  [[nodiscard]] std::uint64_t elements() const {
    const std::uint64_t positions =
        page == 0 ? std::uint64_t{slots} * context : std::uint64_t{pages} * page;
    return positions * kv_heads * head_dim;
  }
  // Size of one buffer (keys or values).
  [[nodiscard]] std::uint64_t bytes() const;
  // Puts the constants KV_HEADS, CONTEXT, DIM and the format's text into a shader: the alias KvCell
  // (four numbers) and, over buffers `keys` and `values` of array<KvCell> that the kernel declares,
  // key_at(i) and value_at(i) -> vec4f (i counts fours), kv_row(slot, kv_head, position), the first
  // four of a head (for pages over `places`, an array<vec4u> that the kernel declares), and with
  // `writable` store_key(i, ...) and store_value().
  void describe(ShaderText& text, bool writable) const;
};

}  // namespace weft::kernels
