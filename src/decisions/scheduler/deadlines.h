// The times at which the scheduler has to check a worker, a job or a task, with one set for each
// kind of check. Plain data: each set keeps its own order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/base/ids.h"
#include "decisions/scheduler/timers.h"

namespace weft::scheduler {

struct Deadlines {
  Timers<std::uint64_t> workers;  // WorkerState::deadline by WorkerState::sequence.
  Timers<JobId> jobs;             // Job::deadline of each job that has one.
  Timers<JobId> unfit_looks;      // JobState::unfit_at of each job.
  Timers<TaskId> retries;         // Times at which a failed task may go to the same worker again.
  Timers<TaskId> starving;        // When NoWorkerLeft is decided for a task.
  Timers<JobId> patience;         // JobState::patient_until of each job that has one.

  // Returns the earliest time in all of these sets.
  [[nodiscard]] std::optional<Instant> next() const {
    std::optional<Instant> next;
    for (const auto at : {jobs.next(), unfit_looks.next(), workers.next(), retries.next(),
                          starving.next(), patience.next()}) {
      if (at) next = next ? std::min(*next, *at) : *at;
    }
    return next;
  }
};

}  // namespace weft::scheduler
