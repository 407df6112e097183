// Events of jobs: a job is added to the queue, new or from before a restart, or is removed.
//
// Pure; not safe to share between threads.
#pragma once

#include <span>
#include <string_view>

#include "common/base/result.h"
#include "decisions/scheduler/job_removal.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class JobEvents {
 public:
  struct Parts {
    Listings& listings;
    Leases& leases;
    JobRemoval& removal;
  };
  JobEvents(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Adds a job. Fails with already_exists if the job's id is known, and with invalid_argument if
  // the job has no tasks or `progress` names a task that the job does not have.
  [[nodiscard]] Result<> add(const Job& job, Instant now, std::span<const TaskProgress> progress);
  // Removes the job and cancels its leases with this reason. Does nothing for an unknown job.
  void remove(const JobId& job, std::string_view reason);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
