// The chains of workers that serve models: the members with their layers, the state of each chain,
// and the requests that it answers.
//
// Not for several threads. Invariant: the members of a chain hold all layers of its model in order,
// each on another worker; inconsistency() reports a chain that breaks this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "decisions/inference/answer.h"
#include "decisions/inference/serving_ids.h"
#include "decisions/inference/serving_views.h"
#include "decisions/inference/serving_workers.h"
#include "decisions/inference/shard_table.h"

namespace weft::inference {

struct ChainMember {
  ServingId worker = 0;
  ShardId shard{};
  std::uint32_t begin = 0, end = 0;  // The layers from begin up to but not including end.
  bool linked = false;
  // Milliseconds of a token in the member's layers, from its last pulses; 0: unknown.
  double ms = 0;
};

struct Chain {
  std::string model;
  ChainState state = ChainState::loading;
  std::uint32_t epoch = 0;
  std::vector<ChainMember> members{};
  std::set<RequestId> requests{};
  Instant since{};     // The time at which the present state began.
  Instant progress{};  // The last token or answer, or the last request that the chain was given.
  std::string transport{};
  bool trusted = false;     // Made for clients that ask for trusted workers.
  bool retiring = false;    // Gets no more requests and is dissolved when it has none.
  Instant changed{};        // The time at which the chain's members changed last.
  std::uint32_t looks = 0;  // The number of looks in a row that found a better chain.

  [[nodiscard]] std::set<ServingId> workers() const;
  // The member that runs on this worker; null if there is none.
  [[nodiscard]] const ChainMember* member_of(ServingId worker) const;
};

class ChainTable {
 public:
  ChainTable(const DeskSettings& settings, const ModelCards& models, const ServingWorkers& workers,
             const ShardTable& shards)
      : settings_(settings), models_(models), workers_(workers), shards_(shards) {}

  // Returns a number that no chain, audit or search had before.
  [[nodiscard]] ChainId next_id() { return ++ids_; }
  Chain& add(ChainId id, Chain chain);
  // Removes the chain, which must exist, and returns it.
  [[nodiscard]] Chain take(ChainId id);

  [[nodiscard]] bool contains(ChainId id) const { return chains_.contains(id); }
  // Returns null if the chain is not in the table.
  [[nodiscard]] Chain* find(ChainId id);
  [[nodiscard]] const Chain* find(ChainId id) const;
  // Returns null also if the chain is in another epoch.
  [[nodiscard]] Chain* find(std::uint32_t id, std::uint32_t epoch);
  [[nodiscard]] Chain& at(ChainId id) { return chains_.at(id); }
  [[nodiscard]] const Chain& at(ChainId id) const { return chains_.at(id); }
  [[nodiscard]] const std::map<ChainId, Chain>& all() const { return chains_; }
  [[nodiscard]] std::vector<ChainId> of_model(const std::string& model) const;

  // True if all members are trusted.
  [[nodiscard]] bool is_trusted(const Chain& chain) const;
  // True if the members' results do not depend on how many positions they compute at a time.
  [[nodiscard]] bool has_exact_members(const Chain& chain) const;
  // True if the members are processors and nothing is rounded on the way between them.
  [[nodiscard]] bool is_exact(const Chain& chain) const;
  // True if the members report commitments to their frames.
  [[nodiscard]] bool commits(const Chain& chain) const;
  // The number of requests that the chain answers at a time.
  [[nodiscard]] std::size_t capacity_of(const Chain& chain) const;
  // True if the chain would take another request of its model.
  [[nodiscard]] bool has_place(const Chain& chain) const;
  // The commitments of the members for the answer that their frames name by `sequence`. No value if
  // the members do not commit.
  [[nodiscard]] std::optional<Pipeline> pipeline_of(ChainId id, std::uint32_t sequence) const;
  // The type of hidden states between the workers of a model.
  [[nodiscard]] const std::string& wire_of(const std::string& model) const;

  [[nodiscard]] std::string inconsistency() const;

 private:
  const DeskSettings& settings_;
  const ModelCards& models_;
  const ServingWorkers& workers_;
  const ShardTable& shards_;
  std::map<ChainId, Chain> chains_;
  ChainId ids_;
};

}  // namespace weft::inference
