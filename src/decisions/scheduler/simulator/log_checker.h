// Reads a simulation's log without asking the scheduler: it keeps its own account of what each job
// has to give.
#pragma once

#include "decisions/scheduler/simulator/simulator.h"

namespace weft::scheduler::simulator {

struct Report {
  std::uint64_t leases = 0;
  // Leases of a task while another job of the same client with a better place in the queue
  // (score.h) had one to give that asks for no more memory and no more time: a worker with room for
  // the one had room for the other, whatever was reserved there.
  std::uint64_t inversions = 0;
  std::uint64_t unfinished = 0;  // Jobs.
  double wait_mean = 0;          // Until a job's first task was leased, in seconds.
  double wait_max = 0;
  // For each job: from submission to its end, over what one of its tasks takes on the fastest
  // worker alone, which is counted as ten seconds where it is less (Feitelson's bounded slowdown).
  double slowdown_mean = 0;
  double slowdown_max = 0;
};
// For jobs of one replica.
[[nodiscard]] Report check_log(const Scenario& setup, const Log& log);

}  // namespace weft::scheduler::simulator
