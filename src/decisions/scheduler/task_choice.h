// Which task of a job a worker would get now, if it has room: the canary first, then one that the
// worker alone can continue, then those that miss a replica, oldest first, then the untouched ones.
//
// Remembers in the job which tasks the worker has passed over. Pure; not safe to share between
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

  // Its index. Nothing where the worker gets none of the job now. Whether its memory has room is
  // not asked.
  [[nodiscard]] std::optional<std::uint32_t> task_for(const WorkerState& worker, JobState& job,
                                                      Instant now);
  // Whether safeguards keep a newcomer from all of the job.
  [[nodiscard]] bool keeps_from(const WorkerState& worker, const JobState& job, Instant now);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
