// What changes in a running chain when a worker is lost, slows down or joins: the smallest change
// that is worth it. A change costs the loading of layers (no answer advances meanwhile), something
// for each shard that is touched, and what the new chain takes for the tokens that are expected;
// the change whose sum is least is taken:
//
//   keep      nothing changes (not where a worker is lost)
//   replace   the worker's layers go to a spare, or to a neighbour in the chain; all other shards
//   stay as they are replan    the chain as plan_chain() would make it now
//
// A chain that only got slower is changed with hysteresis, so that noise and two plans that are
// nearly as good never make it go back and forth: not within `quiet_seconds` of the last change,
// and only where a token (or the period) becomes shorter by `gain_min` of what it is. A lost worker
// is replaced at once.
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
  double load_bytes_per_s = 50e6;  // How fast a worker gets weights that it has not.
  double change_seconds =
      0.5;  // For each shard that is not as it was: its connections and its cache are made again.
  double tokens_expected = 256;  // What the chain is still wanted for.
  double gain_min = 0.2;
  double quiet_seconds = 10;
};

struct Repair {
  enum class Change : std::uint8_t { keep, replace, replan };
  Change change = Change::keep;
  Plan plan;  // What runs from now on, by the measurements as they are now.
  std::vector<std::size_t>
      loading{};            // Shards of `plan` that are new to their worker, in whole or in part.
  double load_seconds = 0;  // Loading time of the shard that loads longest.
};

// `nodes` are the workers that are there, with the memory that they would have free without this
// chain; a running shard whose node is not among them is lost. `seconds_since_change` counts from
// the last change of this chain. invalid_argument for an invalid chain, resource_exhausted
// if a worker is lost and what is left cannot hold the model.
[[nodiscard]] Result<Repair> repair(const Model& model, std::span<const Shard> running,
                                    std::span<const Node> nodes, const Latency& latency,
                                    double seconds_since_change, const RepairOptions& options = {});

}  // namespace weft::mesh
