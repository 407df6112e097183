// Explains why a waiting task does not run now (waiting.h). It makes the matcher's checks in the
// matcher's order, but for all workers instead of only the free ones.
//
// Pure: changes nothing; not safe to share between threads. Takes O(workers) for each task that it
// looks at, and looks at no more than five tasks of a job.
#pragma once

#include <cstdint>
#include <optional>

#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/waiting.h"

namespace weft::scheduler {

class WaitExplainer {
 public:
  struct Parts {
    const Prospects& prospects;
    const LongRuns& long_runs;
    const SampleChecks& samples;
    const RoomPromises& promises;
  };
  WaitExplainer(const SchedulerTables& tables, const Parts& parts)
      : tables_(tables), parts_(parts) {}

  // Explains the task of the job that is nearest to running. No value if no task waits, or if one
  // is about to run.
  [[nodiscard]] std::optional<Waiting> explain(const JobState& job, Instant now) const;

 private:
  struct Census;
  // Explains a task that misses a replica. No value if the task is about to run.
  [[nodiscard]] std::optional<Waiting> why_waits(const JobState& job, std::uint32_t index,
                                                 Instant now) const;
  // Counts the workers that could run the task, by the reason that keeps each of them from it.
  void look_at_workers(const JobState& job, Instant now, Waiting& made, Census& census) const;
  void look_at(const WorkerState& worker, const JobState& job, Instant now, Waiting& made,
               Census& census) const;
  [[nodiscard]] std::uint32_t position_of(const JobState& job) const;

  const SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
