// A network under attack, in simulated time: the real scheduler leases, the real referee decides;
// workers, clients, the coordinator's verifier and the time that all take are simulated. The
// outcome is counted against the truth, which the simulation knows. The same setup, plan and seed
// give the same outcome.
#pragma once

#include <functional>

#include "decisions/trust/attacks/setup.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::trust::attacks {

// Without a strategy all workers are honest. Ends early once `stop` says so.
[[nodiscard]] Outcome play(const Scene& setup, const Entry* strategy, const Plan& plan,
                           const std::function<bool()>& stop = {});
// With what the strategy plays by default.
[[nodiscard]] inline Outcome play(const Scene& setup, const Entry& strategy) {
  return play(setup, &strategy, strategy.plan());
}

}  // namespace weft::trust::attacks
