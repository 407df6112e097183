// Counts of the accepted and refused results of each worker. They are shown to other parties, and
// decide nothing: reputation.h says how far a worker is believed.
//
// Pure. Memory: a row for each worker that was counted.
#pragma once

#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

class AcceptanceCounts {
 public:
  void accepted(const PublicKey& worker) { ++of_[worker].accepted; }
  void refused(const PublicKey& worker) { ++of_[worker].refused; }
  [[nodiscard]] Reputation of(const PublicKey& worker) const {
    const auto found = of_.find(worker);
    return found == of_.end() ? Reputation{} : found->second;
  }
  void restore(const PublicKey& worker, Reputation reputation) { of_[worker] = reputation; }

 private:
  std::unordered_map<PublicKey, Reputation> of_;
};

}  // namespace weft::trust
