// Events that time alone causes: jobs end at their deadline or because no worker fits them, silent
// workers are lost, leases expire, and failed tasks may be tried again.
//
// Pure; not safe to share between threads. O(log entries) for each entry that is due.
#pragma once

#include "decisions/scheduler/blame.h"
#include "decisions/scheduler/canaries.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_copies.h"
#include "decisions/scheduler/worker_removal.h"

namespace weft::scheduler {

class Expiry {
 public:
  struct Parts {
    const Prospects& prospects;
    const BlameRules& blame;
    Listings& listings;
    TaskCopies& copies;
    Leases& leases;
    WorkerRemoval& removal;
    Canaries& canaries;
  };
  Expiry(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Handles everything that is due (Deadlines).
  void expire(Instant now);

 private:
  void end_late_jobs(Instant now);
  // Ends the jobs whose requirements no connected worker has met for Settings::unfit_max.
  void end_unfit_jobs(Instant now);
  void look_at(WorkerState& worker, Instant now);
  // Ends the expired lease of the worker's first task. Returns false if this also ended the
  // worker's connection.
  bool expire_leases(WorkerState& worker, Instant now);
  void try_again(Instant now);
  void end_patience(Instant now);
  // Decides NoWorkerLeft for each task that needs a further replica if every worker that could run
  // the task has had its turn.
  void look_at_starving(Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
