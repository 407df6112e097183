// Standby workers: idle workers that hold the layers of a chain's members, compiled and on the
// device, so that the place of one that is lost is taken at once. One worker stands by for as many
// members as it has room for.
#pragma once

#include <optional>
#include <string>

#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class Standby {
 public:
  explicit Standby(DeskTables& tables) : tables_(tables) {}

  // Has the next layers of the model loaded for which no worker stands by: one load at a time for
  // each model, since it takes the time of a machine that may also be a member's.
  void stand_by(const std::string& model);
  // The worker stands by no longer.
  void leave(ServingId session);
  // Puts the member's layers on a worker that stands by with just these; one that has them ready
  // before one that still loads them. False if there is none.
  [[nodiscard]] bool take(ChainId id, ChainMember& member);
  // Whether a worker that is no member of the chain holds just these layers, ready to take the
  // place at once; or else, at least loads them or has lent them to an audit.
  [[nodiscard]] bool is_covered(const Chain& chain, const ChainMember& member, bool ready) const;
  // The worker has no room for this shard; what it holds already it keeps.
  void refused(ShardId id);

 private:
  [[nodiscard]] bool stands_by(const Shard& shard, const std::string& model) const;
  // Whether it holds all layers of a model whose chains have several members, so that it could not
  // take over a member's place.
  [[nodiscard]] bool serves_audits_alone(const Shard& shard) const;
  // The best worker for a member's layers: one that stands by already, else an idle one.
  [[nodiscard]] std::optional<ServingId> worker_for(const Chain& chain,
                                                    const ChainMember& member) const;

  DeskTables& tables_;
};

}  // namespace weft::inference
