// What happens by itself when its time has come: jobs end at their deadline or for want of a worker
// that fits, workers that say nothing are lost, leases expire, tasks that failed may be tried
// again.
//
// Pure; not safe to share between threads. O(log entries) for each that is due.
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

  // Everything that is due (Deadlines).
  void expire(Instant now);

 private:
  void end_late_jobs(Instant now);
  // Ends the jobs for which no worker had what they require for Settings::unfit_max.
  void end_unfit_jobs(Instant now);
  void look_at(WorkerState& worker, Instant now);
  // The lease of its first task has expired. False where the worker is lost with it.
  bool expire_leases(WorkerState& worker, Instant now);
  void try_again(Instant now);
  void end_patience(Instant now);
  // Says so where every worker that could run a further replica has had its turn.
  void look_at_starving(Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
