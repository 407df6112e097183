#include "engine/llm/cpu/feed_forward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/kernels/reference/activation.h"

namespace weft::llm {
namespace {

struct Position {
  std::size_t index = 0;
  float weight = 0;
};

// The positions that each expert is run for.
std::vector<std::vector<Position>> choose(const ExpertsShape& shape,
                                          std::span<const float> scores) {
  std::vector<std::vector<Position>> out(shape.count);
  std::vector<std::uint32_t> order(shape.count);
  for (std::size_t first = 0; first < scores.size(); first += shape.count) {
    const std::span<const float> own = scores.subspan(first, shape.count);
    std::iota(order.begin(), order.end(), 0u);
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      return own[a] > own[b] || (own[a] == own[b] && a < b);
    };
    std::partial_sort(order.begin(), order.begin() + shape.used, order.end(), better);
    float sum = 0;
    for (std::uint32_t i = 0; i < shape.used; ++i) sum += std::exp(own[order[i]] - own[order[0]]);
    for (std::uint32_t i = 0; i < shape.used; ++i)
      out[order[i]].push_back({first / shape.count, std::exp(own[order[i]] - own[order[0]]) / sum});
  }
  return out;
}

}  // namespace

Result<CpuFeedForward> CpuFeedForward::load(const gguf::Source& source, const Config& config,
                                            const std::variant<FeedForward, Experts>& weights) {
  CpuFeedForward out;
  const auto load = [&](Weight gate, Weight up, Weight down) -> Result<> {
    WEFT_ASSIGN(out.gate_, Matrix::load(source, *gate));
    WEFT_ASSIGN(out.up_, Matrix::load(source, *up));
    WEFT_ASSIGN(out.down_, Matrix::load(source, *down));
    return {};
  };
  if (const auto* one = std::get_if<FeedForward>(&weights)) {
    WEFT_OK(load(one->gate, one->up, one->down));
    return out;
  }
  const auto& experts = std::get<Experts>(weights);
  out.shape_ = config.experts;
  WEFT_ASSIGN(out.router_, Matrix::load(source, *experts.router));
  WEFT_OK(load(experts.gate, experts.up, experts.down));
  return out;
}

std::vector<float> CpuFeedForward::through(const Pass& pass, std::size_t expert,
                                           std::span<const float> x) const {
  const std::size_t width = pass.config.embedding, count = x.size() / width,
                    feed = shape_ ? shape_->feed_forward : gate_.rows();
  std::vector<float> gate(count * feed), up(count * feed), out(x.size());
  gate_.multiply_rows(expert * feed, feed, x, gate, pass.workers);
  up_.multiply_rows(expert * feed, feed, x, up, pass.workers);
  kernels::reference::gate_up(pass.config.activation, gate, up, gate);
  down_.multiply_rows(expert * width, width, gate, out, pass.workers);
  return out;
}

void CpuFeedForward::run(const Pass& pass, std::span<const float> x, std::span<float> out) const {
  if (!shape_) {
    std::ranges::copy(through(pass, 0, x), out.begin());
    return;
  }
  const std::size_t width = pass.config.embedding;
  std::vector<float> scores(x.size() / width * shape_->count);
  router_.multiply(x, scores, pass.workers);
  std::ranges::fill(out, 0.0f);
  // The experts run in order, so that a position's sum has the same order whatever the other
  // positions are.
  const auto positions = choose(*shape_, scores);
  for (std::size_t expert = 0; expert < positions.size(); ++expert) {
    if (positions[expert].empty()) continue;
    std::vector<float> own;
    for (const Position& one : positions[expert]) {
      const std::span<const float> row = x.subspan(one.index * width, width);
      own.insert(own.end(), row.begin(), row.end());
    }
    const std::vector<float> given = through(pass, expert, own);
    for (std::size_t i = 0; i < positions[expert].size(); ++i) {
      const Position& one = positions[expert][i];
      for (std::size_t e = 0; e < width; ++e)
        out[one.index * width + e] += one.weight * given[i * width + e];
    }
  }
}

}  // namespace weft::llm
