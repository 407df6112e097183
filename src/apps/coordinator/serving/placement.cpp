#include "apps/coordinator/serving/placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::coordinator {
namespace {

bool better(const Candidate& a, const Candidate& b) {
  const auto speed = [](const Candidate& c) { return std::max(c.gb_per_s, 1e-3) / (1 + c.load); };
  return speed(a) != speed(b) ? speed(a) > speed(b) : a.session < b.session;
}

// Layers for these workers in this order, or nothing where they do not fit.
std::vector<Placed> cut(const ModelCard& card, std::span<const Candidate> workers, std::uint32_t context, std::uint32_t sequences) {
  const double speed =
      std::accumulate(workers.begin(), workers.end(), 0.0, [](double sum, const Candidate& c) { return sum + std::max(c.gb_per_s, 1e-3); });
  std::vector<Placed> out;
  std::uint32_t begin = 0;
  double share = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    share += std::max(workers[i].gb_per_s, 1e-3) / speed;
    const auto left = static_cast<std::uint32_t>(workers.size() - i - 1);
    auto end = left == 0 ? card.layers : static_cast<std::uint32_t>(std::lround(share * card.layers));
    end = std::clamp(end, begin + 1, card.layers - left);
    while (end > begin + 1 && left > 0 && shard_bytes(card, begin, end, context, sequences) > workers[i].memory_free) --end;
    if (shard_bytes(card, begin, end, context, sequences) > workers[i].memory_free) return {};
    out.push_back({.session = workers[i].session, .begin = begin, .end = end});
    begin = end;
  }
  return out;
}

}  // namespace

std::uint64_t shard_bytes(const ModelCard& card, std::uint32_t begin, std::uint32_t end, std::uint32_t context, std::uint32_t sequences) {
  const std::uint64_t layers = end - begin;
  return layers * card.layer_bytes + (begin == 0 ? card.first_bytes : 0) + (end == card.layers ? card.last_bytes : 0) +
         layers * card.cache_bytes * context * sequences;
}

std::vector<Placed> place(const ModelCard& card, std::span<const Candidate> candidates, std::uint32_t context, std::uint32_t sequences) {
  std::vector<Candidate> workers(candidates.begin(), candidates.end());
  std::ranges::sort(workers, better);
  const auto most = std::min<std::size_t>({workers.size(), card.layers, 64});
  for (std::size_t count = card.shards_min; count <= most; ++count) {
    // Those that need no relay between them first, where there are enough.
    std::vector<Candidate> peers;
    std::ranges::copy_if(workers, std::back_inserter(peers), &Candidate::prefers_peers);
    if (count > 1 && peers.size() >= count) {
      if (auto out = cut(card, std::span(peers).first(count), context, sequences); !out.empty()) return out;
    }
    if (auto out = cut(card, std::span(workers).first(count), context, sequences); !out.empty()) return out;
    if (count == 1) {
      for (const Candidate& one : workers) {
        if (auto out = cut(card, {&one, 1}, context, sequences); !out.empty()) return out;
      }
    }
  }
  return {};
}

std::optional<std::uint64_t> place_shard(const ModelCard& card, std::uint32_t begin, std::uint32_t end, std::span<const Candidate> candidates,
                                         std::uint32_t context, std::uint32_t sequences) {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates) {
    if (shard_bytes(card, begin, end, context, sequences) <= one.memory_free && (best == nullptr || better(one, *best))) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(best->session);
}

}  // namespace weft::coordinator
