// Removes a job from the queue: every table and part that knows the job forgets it.
//
// Pure; not safe to share between threads.
#pragma once

#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_copies.h"

namespace weft::scheduler {

class JobRemoval {
 public:
  struct Parts {
    LongRuns& long_runs;
    SampleChecks& samples;
    TaskCopies& copies;
    RoomPromises& promises;
  };
  JobRemoval(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Deletes the job. No worker may hold a task of the job.
  void erase(JobState& job);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
