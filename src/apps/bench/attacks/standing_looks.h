// Requests of attackers for their standing. A few attackers at a time ask in turn; an attacker
// whose result was refused asks at once.
#pragma once

#include <cstddef>

#include "apps/bench/attacks/play_context.h"
#include "apps/bench/attacks/play_workers.h"
#include "apps/bench/attacks/signed_asking.h"

namespace weft::coordinator::bench {

class StandingLooks {
 public:
  StandingLooks(PlayContext& context, SignedAsking& asking, PlayWorkers& workers)
      : context_(context), asking_(asking), workers_(workers) {}
  StandingLooks(const StandingLooks&) = delete;

  void look_at(Wire::Id id);
  void look_at_next();

 private:
  PlayContext& context_;
  SignedAsking& asking_;
  PlayWorkers& workers_;
  std::size_t next_ = 0;  // Index of the attacker to ask next.
};

}  // namespace weft::coordinator::bench
