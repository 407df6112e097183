// The task of a job that a worker with room would get now: the canary first, then a task that this
// worker alone can continue, then tasks that miss a replica, oldest first, then untouched ones.
//
// The job remembers which tasks the worker has passed over. Pure; not safe to share between
// threads.
#pragma once

#include <cstdint>
#include <optional>

#include "decisions/scheduler/canary_prices.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class TaskChoice {
 public:
  struct Parts {
    const LongRuns& long_runs;
    SampleChecks& samples;
    const CanaryPrices& prices;
  };
  TaskChoice(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // The index of the task; no value if the worker gets no task of the job now. Does not check if
  // the worker's memory has room.
  [[nodiscard]] std::optional<std::uint32_t> task_for(const WorkerState& worker, JobState& job,
                                                      Instant now);
  // True if the worker is a newcomer and safeguards keep all tasks of the job from it.
  [[nodiscard]] bool keeps_from(const WorkerState& worker, const JobState& job, Instant now);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
