// A job's canary: when it has passed, at what price, and what that means for the tasks that run
// beside it and behind it on its worker.
//
// Pure; not safe to share between threads.
#pragma once

#include "decisions/scheduler/canary_prices.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class Canaries {
 public:
  struct Parts {
    const Prospects& prospects;
    CanaryPrices& prices;
    Listings& listings;
    LongRuns& long_runs;
    Leases& leases;
  };
  Canaries(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // To call with the first result of a canary; `by` is null if the operator's device measured it.
  // Returns false if the price is above what the client allows: the job was ended, and `job` no
  // longer exists.
  bool pass(JobState& job, const Measurement& measurement, const WorkerState* by, Instant now);
  // Asks for the operator's device where no trusted worker could run the canary.
  void want_device(JobState& job);
  // What was put behind a task whose length is not known, and that runs for long, goes back into
  // the queue, for any free worker. The worker has fetched its data for nothing, at most.
  void take_back(WorkerState& worker, Instant now);

 private:
  // The canary has passed while others of its job were under way: how long they take is known now,
  // too.
  void time_scouts(JobState& job, Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
