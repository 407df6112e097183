// Repairs a running chain when a worker is lost, slows down or joins, with the change that costs
// the least time. The cost of a change is the sum of three times: the loading of layers (no answer
// advances during it), a fixed time for each shard that changes, and the new chain's time for the
// tokens that are still expected. The changes are:
//
// - keep: nothing changes (not possible if a worker is lost).
// - replace: the worker's layers go to a spare worker, or to a neighbour in the chain; all other
//   shards stay as they are.
// - replan: the chain that plan_chain() would make now.
//
// A chain that only became slower is changed with hysteresis, so that neither noise nor two plans
// of nearly equal cost make the chain change back and forth. Such a chain is not changed within
// `quiet_seconds` of its last change, and only if a token (or the period) becomes shorter by
// `gain_min` of its time. A lost worker is replaced at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "decisions/mesh/chain_plan.h"
#include "decisions/mesh/latency.h"

namespace weft::mesh {

struct RepairOptions {
  PlanOptions plan{};
  double load_bytes_per_s = 50e6;  // The speed at which a worker loads weights that it lacks.
  double change_seconds =
      0.5;  // The cost of a changed shard, whose connections and cache are made again.
  double tokens_expected = 256;  // The tokens that the chain is still expected to make.
  double gain_min = 0.2;
  double quiet_seconds = 10;
};

struct Repair {
  enum class Change : std::uint8_t { keep, replace, replan };
  Change change = Change::keep;
  Plan plan;  // The chain from now on, with its times by the present measurements.
  std::vector<std::size_t>
      loading{};            // Shards of `plan` that their worker has to load, in whole or in part.
  double load_seconds = 0;  // The time of the longest load of a shard.
};

// `nodes` are the present workers, with the memory that they would have free without this chain. A
// running shard whose node is not among them is lost. `seconds_since_change` counts from the last
// change of this chain. Fails with invalid_argument for an invalid chain, and with
// resource_exhausted if a worker is lost and the remaining ones cannot hold the model.
[[nodiscard]] Result<Repair> repair(const Model& model, std::span<const Shard> running,
                                    std::span<const Node> nodes, const Latency& latency,
                                    double seconds_since_change, const RepairOptions& options = {});

}  // namespace weft::mesh
