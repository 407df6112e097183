// Splits a model's layers [0, L) over unlike workers into a chain of shards. A worker has one shard
// at most; the order of the workers in the chain is the plan's choice.
//
//   token_seconds   sum over shards of layers / layers_per_s, plus the hops of a hidden state
//   between them, plus the way of the
//                   drawn token from the last shard back to the first: one token of one request,
//                   with nothing else running.
//   period_seconds  the longest that a token holds up one shard or one link; with enough requests
//   in flight 1 / period tokens
//                   leave the chain a second.
//
// Finding the best chain is at least as hard as a travelling salesman's tour. Up to
// `exact_nodes_max` nodes the answer is the best there is: computing and hopping are separate sums,
// so that for each set of workers the cheapest path is found by dynamic programming over subsets
// (Held and Karp, 1962) and the layers go to its fastest workers first. Beyond that a dynamic
// programme over layers (the best chain that ends at a worker after each number of layers) and a
// bounded local search; see chain_search.h. For one bound on the period the same search runs on
// shards that are small enough, and the bound is bisected.
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
  double layers_per_s = 0;        // Measured with the load that it has; for one token.
  std::uint64_t memory_free = 0;  // Bytes, for weights and cache.
  bool can_first = true;          // May have the embedding, the head.
  bool can_last = true;
  // Layers [held_begin, held_end) whose weights it has already: what repair() need not count as
  // loading.
  std::uint32_t held_begin = 0;
  std::uint32_t held_end = 0;
};

struct Model {
  std::uint32_t layers = 0;
  std::uint64_t layer_bytes = 0;  // Weights of one layer.
  std::uint64_t first_bytes = 0;  // What the first shard has besides: the embedding.
  std::uint64_t last_bytes = 0;   // And the last: norm and head. A shard that is both has both.
  std::uint64_t cache_bytes_per_layer = 0;
  std::uint64_t hop_bytes = 0;  // A hidden state on the wire.
  double last_work_layers = 0;  // What the head computes, in layers.
};

struct Shard {
  std::string node;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t layers() const { return end - begin; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

struct Plan {
  std::vector<Shard> shards;  // In the order of the layers, without gaps.
  double token_seconds = 0;
  double period_seconds = 0;
};

enum class Objective : std::uint8_t { token, period };

struct PlanOptions {
  Objective objective = Objective::token;
  std::uint32_t min_shards = 1;
  std::uint32_t max_shards = 0;  // 0: as many as there are layers.
  // For the period: how much longer than the best one may be (0.1: a tenth) where that makes a
  // token come sooner.
  double period_slack = 0;
};

// Sets of up to this many usable nodes are searched completely.
inline constexpr std::size_t exact_nodes_max = 10;
// If more nodes than this are usable, the most promising are planned with.
inline constexpr std::size_t search_nodes_max = 128;

// The best chain by the objective; of equal ones that with fewer shards. invalid_argument: no
// layers, a speed that is no number, two nodes of one id, latencies of another number of nodes,
// options that contradict each other. resource_exhausted: the nodes together cannot hold it that
// way; the message says what is short.
[[nodiscard]] Result<Plan> plan_chain(const Model& model, std::span<const Node> nodes,
                                      const Latency& latency, const PlanOptions& options = {});

// What a given split costs by the measurements as they are now. invalid_argument if it is not a
// chain of these nodes over the whole model, resource_exhausted if a shard does not fit its node
// any more.
[[nodiscard]] Result<Plan> evaluate(const Model& model, std::span<const Node> nodes,
                                    const Latency& latency, std::span<const Shard> shards);

// What a shard needs on its node, in bytes.
[[nodiscard]] std::uint64_t shard_bytes(const Model& model, std::uint32_t begin, std::uint32_t end);

}  // namespace weft::mesh
