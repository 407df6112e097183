// Softmax attention of one query over the positions in a cache.
#pragma once

#include <cstddef>
#include <span>

namespace weft::kernels::reference {

// The rows of one head in a cache: position p begins at data[p * stride].
struct CacheRows {
  const float* data = nullptr;
  std::size_t stride = 0;
  std::size_t positions = 0;  // Must be at least 1.
};

// out = sum over p of softmax(scale * query . keys[p]) * values[p]. All rows have query.size()
// elements; `scores` has room for all positions and holds the weights afterwards.
void attention(std::span<const float> query, const CacheRows& keys, const CacheRows& values,
               float scale, std::span<float> scores, std::span<float> out);

}  // namespace weft::kernels::reference
