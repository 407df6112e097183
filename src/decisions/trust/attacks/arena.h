// A network under attack in simulated time: the real scheduler leases tasks and the real referee
// decides; workers, clients, the coordinator's verifier and durations are simulated. The outcome is
// compared with the truth, which the simulation knows. Runs with equal setup, plan and seed have
// equal outcomes.
#pragma once

#include <functional>

#include "decisions/trust/attacks/setup.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::trust::attacks {

// Plays a run. Without a strategy all workers are honest. The run ends early once `stop` returns
// true.
[[nodiscard]] Outcome play(const Scene& setup, const Entry* strategy, const Plan& plan,
                           const std::function<bool()>& stop = {});
// Plays a run with the default plan of the strategy.
[[nodiscard]] inline Outcome play(const Scene& setup, const Entry& strategy) {
  return play(setup, &strategy, strategy.plan());
}

}  // namespace weft::trust::attacks
