#include "apps/coordinator/serving/placement.h"

#include <algorithm>
#include <format>

#include "service/mesh/chain_plan.h"

namespace weft::coordinator {
namespace {

// Where nothing was measured: a data channel on the same network, and the way over the coordinator.
constexpr mesh::Link direct{.seconds = 0.5e-3, .bytes_per_s = 25e6};
constexpr mesh::Link relayed{.seconds = 2e-3, .bytes_per_s = 50e6};
constexpr double speed_min = 1e-3;  // GB/s, of whoever has measured nothing.

bool better(const Candidate& a, const Candidate& b) {
  const auto speed = [](const Candidate& c) { return std::max(c.gb_per_s, 1e-3) / (1 + c.load); };
  return speed(a) != speed(b) ? speed(a) > speed(b) : a.session < b.session;
}

}  // namespace

std::uint64_t shard_bytes(const ModelCard& card, std::uint32_t begin, std::uint32_t end, std::uint32_t context, std::uint32_t sequences) {
  const std::uint64_t layers = end - begin;
  return layers * card.layer_bytes + (begin == 0 ? card.first_bytes : 0) + (end == card.layers ? card.last_bytes : 0) +
         layers * card.cache_bytes * context * sequences;
}

std::vector<Placed> place(const ModelCard& card, std::span<const Candidate> candidates, std::uint32_t context, std::uint32_t sequences) {
  const mesh::Model model{.layers = card.layers,
                          .layer_bytes = card.layer_bytes,
                          .first_bytes = card.first_bytes,
                          .last_bytes = card.last_bytes,
                          .cache_bytes_per_layer = card.cache_bytes * context * sequences,
                          .hop_bytes = std::uint64_t{card.embedding} * sizeof(float),
                          .last_work_layers = static_cast<double>(card.last_bytes) / static_cast<double>(card.layer_bytes)};
  std::vector<mesh::Node> nodes;
  for (const Candidate& one : candidates) {
    mesh::Node node;
    node.id = std::format("{}", one.session);
    // A layer's weights are read once a token.
    node.layers_per_s = std::max(one.gb_per_s, speed_min) * 1e9 / static_cast<double>(card.layer_bytes) / (1 + one.load);
    node.memory_free = one.memory_free;
    nodes.push_back(std::move(node));
  }
  mesh::Latency latency(nodes.size(), relayed);
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (candidates[a].prefers_peers && candidates[b].prefers_peers) latency.set_both(a, b, direct);
    }
  }
  const auto plan = mesh::plan_chain(model, nodes, latency, {.min_shards = card.shards_min, .max_shards = std::min(card.layers, 64u)});
  std::vector<Placed> out;
  if (!plan) return out;
  for (const mesh::Shard& shard : plan->shards) {
    const auto node = std::ranges::find(nodes, shard.node, &mesh::Node::id);
    out.push_back({.session = candidates[static_cast<std::size_t>(node - nodes.begin())].session, .begin = shard.begin, .end = shard.end});
  }
  return out;
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
