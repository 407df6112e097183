// What happens to jobs: they come into the queue, new or from before a restart, and are taken out.
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

  // already_exists for a known id; invalid_argument for no tasks, or progress of a task that the
  // job has not got.
  [[nodiscard]] Result<> add(const Job& job, Instant now, std::span<const TaskProgress> progress);
  // Its leases are cancelled with this reason. Nothing for an unknown job.
  void remove(const JobId& job, std::string_view reason);

 private:
  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
