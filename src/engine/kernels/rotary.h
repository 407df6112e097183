// Norms and rotates the heads of queries and keys, and writes keys and values to the cache.
//
// Bindings of group 0: 0 qkv (rows of `pitch`: queries, which are rotated in place, keys, values),
// 1 RowPlace for each row (read), 2 turns (read: [position][pairs] of cosine and sine), 3 query
// norm, 4 key norm (read; any buffer without norms), 5 keys, 6 values.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/kv_cache.h"

namespace weft::kernels {

struct RotarySpec {
  KvCacheSpec cache;
  std::uint32_t heads = 1;
  std::uint32_t q_stride = 0;  // The distance of query heads in a row; at least head_dim.
  std::uint32_t pitch = 0;
  std::uint32_t k_offset = 0;
  std::uint32_t v_offset = 0;
  std::uint32_t pairs = 0;  // The first 2 * pairs elements of a head are rotated.
  bool halves = false;      // Pair p is (p, p + pairs) instead of (2p, 2p + 1).
  bool norm = false;
  float epsilon = 0;
};
[[nodiscard]] gpu::PipelineOptions rotary_pipeline(const RotarySpec& spec);
[[nodiscard]] gpu::Workgroups rotary_workgroups(const RotarySpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
