// Which worker gets which layers of a model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "decisions/inference/model_card.h"
#include "decisions/mesh/partition.h"

namespace weft::inference {

struct Candidate {
  std::uint64_t session = 0;
  std::uint64_t memory_free = 0;
  double gb_per_s = 0;         // Layers are read once a token, so this is how fast they go.
  std::uint32_t load = 0;      // Shards that it serves already.
  bool prefers_peers = false;  // It reaches other such workers without the coordinator.
  std::uint32_t held_begin = 0, held_end = 0;  // Layers of this model that it has already.
};
struct Placed {
  std::uint64_t session = 0;
  std::uint32_t begin = 0, end = 0;  // Layers.
};

// What layers [begin, end) take with the caches of `sequences`.
[[nodiscard]] std::uint64_t shard_bytes(const ModelCard& card, std::uint32_t begin,
                                        std::uint32_t end, std::uint32_t context,
                                        std::uint32_t sequences);

// What a plan is made of. `between`: of two candidates by their places in the list, what is known
// of the way from one to the other.
struct Question {
  const ModelCard& card;
  std::span<const Candidate> candidates;
  std::uint32_t context = 0;
  std::uint32_t sequences = 1;
  std::string_view wire = "f32";
  std::function<std::optional<mesh::Link>(std::size_t from, std::size_t to)> between = {};
};
// The question as decisions/mesh asks it; nodes are in the candidates' order, and called by their
// sessions.
struct MeshQuestion {
  mesh::Model model;
  std::vector<mesh::Node> nodes;
  mesh::Latency latency;
  mesh::PlanOptions options;
};
[[nodiscard]] MeshQuestion mesh_question(const Question& question);

// Chains for so many prompts at a time, cut by the strategy (mesh::partition): layer gives one
// chain, batch whole models side by side, hybrid what ends soonest of everything between; with one
// prompt, the chain by which a token comes soonest. Each has card.shards_min workers at least.
// Empty if there is none.
[[nodiscard]] std::vector<std::vector<Placed>> place(const Question& question,
                                                     mesh::Strategy strategy,
                                                     std::uint32_t prompts);
// "layer", "batch" or "hybrid". unsupported for "spatial": a prompt has no rows and columns;
// invalid_argument for anything else.
[[nodiscard]] Result<mesh::Strategy> parse_strategy(std::string_view word);

// The worker that can take over layers [begin, end): the fastest with the least to do.
[[nodiscard]] std::optional<std::uint64_t> place_shard(const ModelCard& card, std::uint32_t begin,
                                                       std::uint32_t end,
                                                       std::span<const Candidate> candidates,
                                                       std::uint32_t context,
                                                       std::uint32_t sequences);

}  // namespace weft::inference
