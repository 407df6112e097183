// Which worker gets which layers of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/coordinator/serving/model_card.h"

namespace weft::coordinator {

struct Candidate {
  std::uint64_t session = 0;
  std::uint64_t memory_free = 0;
  double gb_per_s = 0;         // Layers are read once a token, so this is how fast they go.
  std::uint32_t load = 0;      // Shards that it serves already.
  bool prefers_peers = false;  // It reaches other such workers without the coordinator.
};
struct Placed {
  std::uint64_t session = 0;
  std::uint32_t begin = 0, end = 0;  // Layers.
};

// What layers [begin, end) take with the caches of `sequences`.
[[nodiscard]] std::uint64_t shard_bytes(const ModelCard& card, std::uint32_t begin, std::uint32_t end, std::uint32_t context,
                                        std::uint32_t sequences);

// The chain by which a token comes soonest (mesh::plan_chain): one worker where it holds the model, card.shards_min at least. Empty
// where there is no such chain.
[[nodiscard]] std::vector<Placed> place(const ModelCard& card, std::span<const Candidate> candidates, std::uint32_t context, std::uint32_t sequences);
// Who can take over layers [begin, end): the fastest with the least to do.
[[nodiscard]] std::optional<std::uint64_t> place_shard(const ModelCard& card, std::uint32_t begin, std::uint32_t end,
                                                       std::span<const Candidate> candidates, std::uint32_t context, std::uint32_t sequences);

}  // namespace weft::coordinator
