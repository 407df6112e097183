// Splits a model's layers [0, L) over different workers into a chain of shards. A worker has at
// most one shard; the plan chooses the order of the workers in the chain.
//
// - token_seconds: the sum over shards of layers / layers_per_s, plus the hops of a hidden state
//   between the shards, plus the hop of the drawn token from the last shard back to the first. This
//   is the time of one token of one request, with nothing else running.
// - period_seconds: the longest time that a token occupies one shard or one link. With enough
//   requests in flight 1 / period tokens leave the chain a second.
//
// Finding the best chain is at least as hard as a travelling salesman's tour. Up to
// `exact_nodes_max` nodes the answer is the best one. Computing and hopping are separate sums, so
// dynamic programming over subsets (Held and Karp, 1962) finds the cheapest path for each set of
// workers, and the layers go to the set's fastest workers first. For more nodes, dynamic
// programming over layers (the best chain that ends at a worker after each number of layers) is
// followed by a bounded local search; see chain_search.h. For one bound on the period this search
// runs on shards that are small enough for it, and the bound is bisected.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "decisions/mesh/latency.h"

namespace weft::mesh {

struct Node {
  std::string id;
  double layers_per_s = 0;        // Layers of one token, measured with the node's present load.
  std::uint64_t memory_free = 0;  // Free bytes for weights and cache.
  bool can_first = true;  // True if the node may have the embedding (first) or the head (last).
  bool can_last = true;
  // Layers [held_begin, held_end) whose weights it already has, so that repair() does not count
  // them as loading.
  std::uint32_t held_begin = 0;
  std::uint32_t held_end = 0;
};

struct Model {
  std::uint32_t layers = 0;
  std::uint64_t layer_bytes = 0;  // Bytes of the weights of one layer.
  std::uint64_t first_bytes = 0;  // Additional bytes of the first shard: the embedding.
  std::uint64_t last_bytes = 0;   // Additional bytes of the last shard: norm and head.
  std::uint64_t cache_bytes_per_layer = 0;
  std::uint64_t hop_bytes = 0;  // Bytes of a hidden state on the wire.
  double last_work_layers = 0;  // The work of the head, in layers.
};

struct Shard {
  std::string node;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t layers() const { return end - begin; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

struct Plan {
  std::vector<Shard> shards;  // Shards in the order of their layers, without gaps.
  double token_seconds = 0;
  double period_seconds = 0;
};

enum class Objective : std::uint8_t { token, period };

struct PlanOptions {
  Objective objective = Objective::token;
  std::uint32_t min_shards = 1;
  std::uint32_t max_shards = 0;  // Most shards; 0: as many as the model has layers.
  // The factor by which the period may exceed the best one (0.1: a tenth) if a token then comes
  // sooner. Used only for the objective `period`.
  double period_slack = 0;
};

// Sets of up to this many usable nodes are searched completely.
inline constexpr std::size_t exact_nodes_max = 10;
// If more nodes than this are usable, only the most promising ones are planned with.
inline constexpr std::size_t search_nodes_max = 128;

// The best chain by the objective; among equal ones that with fewer shards. Fails with
// invalid_argument if there are no layers, a speed is not a number, two nodes have one id, the
// latencies are of another number of nodes, or options contradict each other. Fails with
// resource_exhausted if the nodes together cannot hold the model; the message names the shortage.
[[nodiscard]] Result<Plan> plan_chain(const Model& model, std::span<const Node> nodes,
                                      const Latency& latency, const PlanOptions& options = {});

// Computes the times of a given split from the present measurements. Fails with invalid_argument if
// the split is not a chain of these nodes over the whole model, and with resource_exhausted if a
// shard no longer fits its node.
[[nodiscard]] Result<Plan> evaluate(const Model& model, std::span<const Node> nodes,
                                    const Latency& latency, std::span<const Shard> shards);

// The bytes that a shard needs on its node.
[[nodiscard]] std::uint64_t shard_bytes(const Model& model, std::uint32_t begin, std::uint32_t end);

}  // namespace weft::mesh
