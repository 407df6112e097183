// Standby workers: idle workers that hold the layers of a chain's members, compiled and on the
// device, so that a lost member is replaced at once. One worker stands by for all members for which
// it has room.
#pragma once

#include <optional>
#include <string>

#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class Standby {
 public:
  explicit Standby(DeskTables& tables) : tables_(tables) {}

  // Loads the next layers of the model for which no worker stands by. Each model has only one such
  // load at a time, because a load takes time on a machine that may also be a member of a chain.
  void stand_by(const std::string& model);
  // Ends the standby of a worker.
  void leave(ServingId session);
  // Gives the member's place to a worker that stands by with exactly the member's layers. A worker
  // that has the layers ready is preferred to one that still loads them. Returns false if no worker
  // has them.
  [[nodiscard]] bool take(ChainId id, ChainMember& member);
  // True if a worker outside of the chain holds exactly these layers. With `ready` the layers must
  // be able to take the place at once. Without it, the worker may still be loading them, or may
  // have lent them to an audit.
  [[nodiscard]] bool is_covered(const Chain& chain, const ChainMember& member, bool ready) const;
  // Call it when a worker refuses a shard for which it has no room. The worker keeps its other
  // shards.
  void refused(ShardId id);

 private:
  [[nodiscard]] bool stands_by(const Shard& shard, const std::string& model) const;
  // True if the shard holds all layers of a model whose chains have several members. Such a shard
  // serves audits, and cannot take over a member's place.
  [[nodiscard]] bool serves_audits_alone(const Shard& shard) const;
  // Returns the best worker for a member's layers: one that stands by already, or else an idle
  // worker.
  [[nodiscard]] std::optional<ServingId> worker_for(const Chain& chain,
                                                    const ChainMember& member) const;

  DeskTables& tables_;
};

}  // namespace weft::inference
