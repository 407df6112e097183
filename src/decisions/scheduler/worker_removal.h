// Removes a worker that leaves: its tasks wait again for other workers, and every table forgets it.
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

  // Removes and deletes the worker. `head` is the blame for the task that the worker was running;
  // its other tasks are not blamed on it.
  void disconnect(WorkerState& worker, Blame head, const Error& why, Instant now);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
