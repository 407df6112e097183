// Checks a simulation's log without the scheduler: it keeps its own record of the tasks that each
// job has to give.
#pragma once

#include "decisions/scheduler/simulator/simulator.h"

namespace weft::scheduler::simulator {

struct Report {
  std::uint64_t leases = 0;
  // The number of leases that were given out of turn: another job of the same client, with a better
  // place in the queue (score.h), had a task to give that needs no more memory and no more time. A
  // worker with room for the leased task had room for that task, too, whatever was reserved on it.
  std::uint64_t inversions = 0;
  std::uint64_t unfinished = 0;  // The number of unfinished jobs.
  double wait_mean = 0;          // Seconds until a job's first task was leased.
  double wait_max = 0;
  // The slowdown of a job: the time from its submission to its end, over the time of one of its
  // tasks alone on the fastest worker, which counts as at least ten seconds (Feitelson's bounded
  // slowdown).
  double slowdown_mean = 0;
  double slowdown_max = 0;
};
// Checks a log of jobs of one replica.
[[nodiscard]] Report check_log(const Scenario& setup, const Log& log);

}  // namespace weft::scheduler::simulator
