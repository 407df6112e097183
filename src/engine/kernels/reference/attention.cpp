#include "engine/kernels/reference/attention.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "engine/kernels/reference/dot.h"

namespace weft::kernels::reference {

void attention(std::span<const float> query, const CacheRows& keys, const CacheRows& values,
               float scale, std::span<float> scores, std::span<float> out) {
  const std::size_t dim = query.size();
  check(keys.positions > 0 && keys.positions == values.positions && scores.size() >= keys.positions,
        "attention sees at least one position");
  float top = -INFINITY;
  for (std::size_t p = 0; p < keys.positions; ++p) {
    scores[p] = scale * dot(query, {keys.data + p * keys.stride, dim});
    top = std::max(top, scores[p]);
  }
  double sum = 0;
  for (std::size_t p = 0; p < keys.positions; ++p) {
    scores[p] = std::exp(scores[p] - top);
    sum += scores[p];
  }
  std::ranges::fill(out, 0.0f);
  const auto share = static_cast<float>(1 / sum);
  for (std::size_t p = 0; p < keys.positions; ++p) {
    scores[p] *= share;
    add_scaled(out, {values.data + p * values.stride, dim}, scores[p]);
  }
}

}  // namespace weft::kernels::reference
