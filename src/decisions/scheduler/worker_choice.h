// Chooses the worker that gets a job's next task: the best free worker that will likely complete
// it. A task passes over a worker that is too slow or will leave too soon, as long as a better
// worker may become free. It also passes over a worker that failed the task before, as long as
// another worker is free.
//
// Pure; not safe to share between threads. Looks at no more than 64 workers that do not suit.
#pragma once

#include <cstdint>

#include "decisions/scheduler/canaries.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_choice.h"

namespace weft::scheduler {

class WorkerChoice {
 public:
  struct Parts {
    const Prospects& prospects;
    TaskChoice& choice;
    RoomPromises& promises;
    Leases& leases;
    Canaries& canaries;
  };
  WorkerChoice(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Leases one task of the job to the best worker. Returns false if no worker gets one now; the job
  // may then have got a promise of room, or may wait for a better worker.
  bool give(JobState& job, Instant now);
  // True if this worker would get a task of the job now, or if the job would be promised room on
  // it.
  [[nodiscard]] bool takes(const WorkerState& worker, JobState& job, Instant now);

 private:
  struct Found;
  [[nodiscard]] Found find(JobState& job, Instant now);
  void wait_for_better(JobState& job, Duration wait, Instant now);
  void lease(WorkerState& worker, JobState& job, std::uint32_t index, std::uint32_t attempt,
             Instant now);
  [[nodiscard]] Lease terms(const WorkerState& worker, const JobState& job,
                            std::uint32_t index) const;

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
