// Placement of a model's layers on workers.
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
  double gb_per_s = 0;     // The bandwidth limits the speed: a token reads all weights.
  std::uint32_t load = 0;  // The number of shards that the worker serves already.
  // True if the worker reaches other workers with this flag without the coordinator.
  bool prefers_peers = false;
  // Layers of this model that the worker already holds.
  std::uint32_t held_begin = 0, held_end = 0;
};
struct Placed {
  std::uint64_t session = 0;
  std::uint32_t begin = 0, end = 0;  // The layers from begin up to but not including end.
};

// The bytes of layers [begin, end) with the caches of `sequences` sequences.
[[nodiscard]] std::uint64_t shard_bytes(const ModelCard& card, std::uint32_t begin,
                                        std::uint32_t end, std::uint32_t context,
                                        std::uint32_t sequences);

// The input of a plan. `between` gives the known line between two candidates, by their indexes.
struct Question {
  const ModelCard& card;
  std::span<const Candidate> candidates;
  std::uint32_t context = 0;
  std::uint32_t sequences = 1;
  std::string_view wire = "f32";
  std::function<std::optional<mesh::Link>(std::size_t from, std::size_t to)> between = {};
};
// The question in the form of decisions/mesh. Nodes are in the candidates' order and are named by
// their sessions.
struct MeshQuestion {
  mesh::Model model;
  std::vector<mesh::Node> nodes;
  mesh::Latency latency;
  mesh::PlanOptions options;
};
[[nodiscard]] MeshQuestion mesh_question(const Question& question);

// Chains for this number of prompts at a time, cut by the strategy (mesh::partition). `layer` gives
// one chain, `batch` whole models side by side, and `hybrid` the fastest mixture of both. For one
// prompt, the chain with the shortest token time is taken. Each chain has at least card.shards_min
// workers. Empty if there is no such chain.
[[nodiscard]] std::vector<std::vector<Placed>> place(const Question& question,
                                                     mesh::Strategy strategy,
                                                     std::uint32_t prompts);
// Reads "layer", "batch" or "hybrid". Fails with unsupported for "spatial", because a prompt has no
// rows and columns, and with invalid_argument for anything else.
[[nodiscard]] Result<mesh::Strategy> parse_strategy(std::string_view word);

// The worker that can take over layers [begin, end) fastest. The speed of a worker is divided by
// the number of its shards plus one.
[[nodiscard]] std::optional<std::uint64_t> place_shard(const ModelCard& card, std::uint32_t begin,
                                                       std::uint32_t end,
                                                       std::span<const Candidate> candidates,
                                                       std::uint32_t context,
                                                       std::uint32_t sequences);

}  // namespace weft::inference
