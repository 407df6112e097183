// Changes chains for better ones, after a worker became slow or a faster one joined. A chain is
// changed only if several looks in a row find a better chain, and not soon after its last change.
#pragma once

#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/protocol/serving.h"
#include "decisions/inference/chain_keeper.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/placement.h"

namespace weft::inference {

class ChainReview {
 public:
  ChainReview(DeskTables& tables, ChainKeeper& keeper) : tables_(tables), keeper_(keeper) {}

  // Looks for better chains. Does nothing before DeskSettings::look_every has passed.
  void look(Instant now);
  // Takes in the measured times of layers, which chains are compared by.
  void heard(ServingId session, const std::vector<protocol::serving::ShardPace>& paces);

 private:
  [[nodiscard]] std::optional<std::vector<Placed>> better(ChainId id, Instant now) const;
  // The workers that could be members of the chain. Layers that they hold cost nothing to load.
  [[nodiscard]] std::vector<Candidate> candidates(ChainId id) const;

  DeskTables& tables_;
  ChainKeeper& keeper_;
  Instant looked_{};
};

}  // namespace weft::inference
