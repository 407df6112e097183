// A worker leaves: what it held waits again for others, and nothing stands for it in any table.
//
// Pure; not safe to share between threads.
#pragma once

#include "decisions/scheduler/class_members.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class WorkerRemoval {
 public:
  struct Parts {
    Listings& listings;
    ClassMembers& members;
    Leases& leases;
  };
  WorkerRemoval(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // The task that it was running is lost in this way; the others are not blamed on it. The worker
  // is gone then.
  void disconnect(WorkerState& worker, Blame head, const Error& why, Instant now);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
