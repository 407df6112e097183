// The layout of a layer's keys or values in their buffer: [slot][kv head][position][head_dim], as
// f32, as pairs of f16, or as int8 followed by an f32 scale for every 32 numbers. With pages the
// layout is [page][kv head][position in the page][head_dim], and the page table, which has the page
// of the buffer for each page of a slot's positions, follows the rows' places.
#pragma once

#include <cstdint>

#include "engine/kernels/shader.h"

namespace weft::kernels {

enum class KvCacheFormat : std::uint8_t { f32, f16, q8_0 };

struct KvCacheSpec {
  KvCacheFormat format = KvCacheFormat::f16;
  std::uint32_t slots = 1;
  std::uint32_t kv_heads = 1;
  std::uint32_t context = 0;   // The number of positions in the cache.
  std::uint32_t head_dim = 0;  // A multiple of 4; of 32 for q8_0.
  std::uint32_t page = 0;      // Positions in a page; 0 if every slot has its own `context`.
  std::uint32_t pages = 0;     // The number of pages, for all slots together.
  // The element of `places` at which the page table begins; it has table_pages() u32 for each slot.
  std::uint32_t table_first = 0;

  [[nodiscard]] std::uint32_t table_pages() const {
    return page == 0 ? 0 : (context + page - 1) / page;
  }
  [[nodiscard]] std::uint64_t elements() const {
    const std::uint64_t positions =
        page == 0 ? std::uint64_t{slots} * context : std::uint64_t{pages} * page;
    return positions * kv_heads * head_dim;
  }
  // The size of one buffer, of keys or of values.
  [[nodiscard]] std::uint64_t bytes() const;
  // Adds to a shader the constants KV_HEADS, CONTEXT and DIM, the alias KvCell (four numbers) and
  // the format's functions:
  // - key_at(i) and value_at(i) -> vec4f, which read group i of four numbers from the buffers
  //   `keys` and `values` of array<KvCell>, which the kernel declares;
  // - kv_row(slot, kv_head, position), the index of the first four numbers of a head; with pages it
  //   reads `places`, an array<vec4u>, which the kernel declares;
  // - with `writable` also store_key(i, ...) and store_value().
  void describe(ShaderText& text, bool writable) const;
};

}  // namespace weft::kernels
