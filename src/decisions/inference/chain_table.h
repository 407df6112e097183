// The chains of workers that serve models: who is a member with which layers, how far a chain is,
// and which requests it answers.
//
// Not for several threads. Invariant: the members of a chain hold all layers of its model in order,
// each on another worker; inconsistency() says so if not.
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
  std::uint32_t begin = 0, end = 0;  // Layers.
  bool linked = false;
  double ms = 0;  // A token's way through its layers, as its last pulses say; 0: not known.
};

struct Chain {
  std::string model;
  ChainState state = ChainState::loading;
  std::uint32_t epoch = 0;
  std::vector<ChainMember> members{};
  std::set<RequestId> requests{};
  Instant since{};     // When the state began.
  Instant progress{};  // A token or an answer, or a request that was handed to it.
  std::string transport{};
  bool trusted = false;     // Made for clients that ask for trusted workers.
  bool retiring = false;    // Gets no more requests and goes when it is done.
  Instant changed{};        // Its members, last.
  std::uint32_t looks = 0;  // In a row that found a better chain.

  [[nodiscard]] std::set<ServingId> workers() const;
  // The member that is this worker; null if there is none.
  [[nodiscard]] const ChainMember* member_of(ServingId worker) const;
};

class ChainTable {
 public:
  ChainTable(const DeskSettings& settings, const ModelCards& models, const ServingWorkers& workers,
             const ShardTable& shards)
      : settings_(settings), models_(models), workers_(workers), shards_(shards) {}

  // A number that no chain, audit or search had before.
  [[nodiscard]] ChainId next_id() { return ++ids_; }
  Chain& add(ChainId id, Chain chain);
  // It must exist.
  [[nodiscard]] Chain take(ChainId id);

  [[nodiscard]] bool contains(ChainId id) const { return chains_.contains(id); }
  // Null for a chain that is not here.
  [[nodiscard]] Chain* find(ChainId id);
  [[nodiscard]] const Chain* find(ChainId id) const;
  // Null also if it is another epoch of the chain.
  [[nodiscard]] Chain* find(std::uint32_t id, std::uint32_t epoch);
  [[nodiscard]] Chain& at(ChainId id) { return chains_.at(id); }
  [[nodiscard]] const Chain& at(ChainId id) const { return chains_.at(id); }
  [[nodiscard]] const std::map<ChainId, Chain>& all() const { return chains_; }
  [[nodiscard]] std::vector<ChainId> of_model(const std::string& model) const;

  // Whether all of its members are.
  [[nodiscard]] bool is_trusted(const Chain& chain) const;
  // Whether its members' numbers do not depend on how many positions they take at a time.
  [[nodiscard]] bool has_exact_members(const Chain& chain) const;
  // Its members are processors, with nothing rounded on the way between them.
  [[nodiscard]] bool is_exact(const Chain& chain) const;
  // Whether its members tell of their frames.
  [[nodiscard]] bool commits(const Chain& chain) const;
  // Requests that it answers at a time.
  [[nodiscard]] std::size_t capacity_of(const Chain& chain) const;
  // Whether it would take another request of its model.
  [[nodiscard]] bool has_place(const Chain& chain) const;
  // What its members committed to for the answer that its frames name by `sequence`; nothing if
  // they commit to nothing.
  [[nodiscard]] std::optional<Pipeline> pipeline_of(ChainId id, std::uint32_t sequence) const;
  // Type of hidden states between the workers of a model.
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
