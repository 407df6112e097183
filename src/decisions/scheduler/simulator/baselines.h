// Runs one load under the two best-known schedulers, to compare ours with them. Each has one queue
// in order of arrival, for shared workers (Sharing::sliced) without latency, and tasks of one
// replica. No code is shared with our scheduler.
#pragma once

#include "decisions/scheduler/simulator/simulator.h"

namespace weft::scheduler::simulator {

enum class Baseline : std::uint8_t {
  fifo,  // Strictly in order: a task that does not fit delays all tasks after it.
  // The first task that does not fit has a reservation. Later tasks go first if they do not delay
  // it.
  easy,
};

// Fails with invalid_argument for workers that are not shared, for replicas, or for a task that
// fits no worker.
[[nodiscard]] Result<Log> run_baseline(Baseline baseline, const Scenario& setup);

}  // namespace weft::scheduler::simulator
