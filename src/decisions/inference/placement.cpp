#include "decisions/inference/placement.h"

#include <algorithm>

#include "common/base/format.h"
#include "decisions/mesh/chain_plan.h"
#include "decisions/mesh/latency.h"

namespace weft::inference {
namespace {

// Lines that are assumed if nothing was measured: `direct` for a data channel within one network,
// `relayed` for the relay through the coordinator.
constexpr mesh::Link direct{.seconds = 0.5e-3, .bytes_per_s = 25e6};
constexpr mesh::Link relayed{.seconds = 2e-3, .bytes_per_s = 50e6};
constexpr double speed_min = 1e-3;  // Speed in GB/s if no speed was measured.

bool better(const Candidate& a, const Candidate& b) {
  const auto speed = [](const Candidate& c) { return std::max(c.gb_per_s, 1e-3) / (1 + c.load); };
  return speed(a) != speed(b) ? speed(a) > speed(b) : a.session < b.session;
}

}  // namespace

std::uint64_t shard_bytes(const ModelCard& card, std::uint32_t begin, std::uint32_t end,
                          std::uint32_t context, std::uint32_t sequences) {
  const std::uint64_t layers = end - begin;
  return layers * card.layer_bytes + (begin == 0 ? card.first_bytes : 0) +
         (end == card.layers ? card.last_bytes : 0) +
         layers * card.cache_bytes * context * sequences;
}

MeshQuestion mesh_question(const Question& question) {
  const ModelCard& card = question.card;
  const std::size_t bytes = question.wire == "f16" ? 2 : question.wire == "i8" ? 1 : 4;
  MeshQuestion out{
      .model = {.layers = card.layers,
                .layer_bytes = card.layer_bytes,
                .first_bytes = card.first_bytes,
                .last_bytes = card.last_bytes,
                .cache_bytes_per_layer = card.cache_bytes * question.context * question.sequences,
                .hop_bytes = card.embedding * bytes,
                .last_work_layers =
                    static_cast<double>(card.last_bytes) / static_cast<double>(card.layer_bytes)},
      .nodes = {},
      .latency = mesh::Latency(question.candidates.size(), relayed),
      .options = {.min_shards = card.shards_min, .max_shards = std::min(card.layers, 64u)}};
  for (const Candidate& one : question.candidates) {
    mesh::Node node;
    node.id = weft::format("{}", one.session);
    // A layer takes the time in which its weights are read once, because each token needs all of
    // them.
    node.layers_per_s = std::max(one.gb_per_s, speed_min) * 1e9 /
                        static_cast<double>(card.layer_bytes) / (1 + one.load);
    node.memory_free = one.memory_free;
    node.held_begin = one.held_begin;
    node.held_end = one.held_end;
    out.nodes.push_back(std::move(node));
  }
  for (std::size_t a = 0; a < out.nodes.size(); ++a) {
    for (std::size_t b = 0; b < out.nodes.size(); ++b) {
      if (a == b) continue;
      const auto known = question.between ? question.between(a, b) : std::nullopt;
      const bool peers =
          question.candidates[a].prefers_peers && question.candidates[b].prefers_peers;
      out.latency.set(a, b, known.value_or(peers ? direct : relayed));
    }
  }
  return out;
}

std::vector<std::vector<Placed>> place(const Question& question, mesh::Strategy strategy,
                                       std::uint32_t prompts) {
  const MeshQuestion asked = mesh_question(question);
  const auto partition = mesh::partition(
      strategy, {.model = asked.model, .items = std::max(prompts, 1u), .image = {}, .windows = {}},
      asked.nodes, asked.latency, asked.options);
  std::vector<std::vector<Placed>> out;
  if (!partition) return out;
  for (const mesh::Part& part : partition->parts) {
    const auto node = std::ranges::find(asked.nodes, part.node, &mesh::Node::id);
    out.resize(std::max<std::size_t>(out.size(), part.chain + 1));
    out[part.chain].push_back(
        {.session =
             question.candidates[static_cast<std::size_t>(node - asked.nodes.begin())].session,
         .begin = part.begin,
         .end = part.end});
  }
  // Drops chains with fewer members than the card asks for: a strategy may put the whole model on
  // each worker.
  std::erase_if(out, [&](const auto& chain) { return chain.size() < question.card.shards_min; });
  return out;
}

Result<mesh::Strategy> parse_strategy(std::string_view word) {
  if (word == "layer") return mesh::Strategy::layer;
  if (word == "batch") return mesh::Strategy::batch;
  if (word == "hybrid") return mesh::Strategy::hybrid;
  if (word == "spatial")
    return fail(
        ErrorCode::unsupported,
        "--partition spatial is for models of images: a prompt has no rows and columns to cut.");
  return fail(ErrorCode::invalid_argument, "--partition {} is not one of layer, batch and hybrid.",
              word);
}

std::optional<std::uint64_t> place_shard(const ModelCard& card, std::uint32_t begin,
                                         std::uint32_t end, std::span<const Candidate> candidates,
                                         std::uint32_t context, std::uint32_t sequences) {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates) {
    if (shard_bytes(card, begin, end, context, sequences) <= one.memory_free &&
        (best == nullptr || better(one, *best)))
      best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(best->session);
}

}  // namespace weft::inference
