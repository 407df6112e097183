// Standby workers: idle workers that hold the layers of a chain's members, compiled and on the
// device, so that a lost member is replaced at once. One worker stands by for as many members as it
// has room for.
#pragma once

#include <optional>
#include <string>

#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class Standby {
 public:
  explicit Standby(DeskTables& tables) : tables_(tables) {}

  // Loads the next layers of the model for which no worker stands by. Each model has one such load
  // at a time, because a load takes time of a machine that may also be a member.
  void stand_by(const std::string& model);
  // The worker no longer stands by.
  void leave(ServingId session);
  // Gives the member's place to a worker that stands by with exactly its layers. A worker that has
  // them ready is preferred to one that still loads them. Returns false if there is none.
  [[nodiscard]] bool take(ChainId id, ChainMember& member);
  // True if a worker outside of the chain holds exactly these layers. With `ready` the layers must
  // be ready to take the place at once; otherwise the worker may still load them or have lent them
  // to an audit.
  [[nodiscard]] bool is_covered(const Chain& chain, const ChainMember& member, bool ready) const;
  // The worker has no room for this shard. It keeps what it holds already.
  void refused(ShardId id);

 private:
  [[nodiscard]] bool stands_by(const Shard& shard, const std::string& model) const;
  // True if the shard holds all layers of a model whose chains have several members, so that it
  // could not take over a member's place.
  [[nodiscard]] bool serves_audits_alone(const Shard& shard) const;
  // The best worker for a member's layers: one that stands by already, or else an idle one.
  [[nodiscard]] std::optional<ServingId> worker_for(const Chain& chain,
                                                    const ChainMember& member) const;

  DeskTables& tables_;
};

}  // namespace weft::inference
