// The same load by the two best-known schedulers, to compare ours with: one queue in
// order of arrival, for shared workers (Sharing::sliced) that are all at no distance, tasks of one
// replica. Written on their own: nothing of ours is in them.
#pragma once

#include "decisions/scheduler/simulator/simulator.h"

namespace weft::scheduler::simulator {

enum class Baseline : std::uint8_t {
  fifo,  // Strictly in order: what does not fit holds up everything behind it.
  easy,  // The first that does not fit has a reservation; others go ahead where that does not delay
         // it.
};

// invalid_argument for workers that are not shared, replicas, or a task that fits no worker.
[[nodiscard]] Result<Log> run_baseline(Baseline baseline, const Scenario& setup);

}  // namespace weft::scheduler::simulator
