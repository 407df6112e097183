// A job's canary: when it has passed, its price, and its effect on two kinds of tasks: those that
// run beside it, and those that wait after it on its worker.
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

  // Takes the first result of a canary. `by` is null if the operator's device measured the canary.
  // Returns false if the price is above the client's limit. The job has then ended, and `job` no
  // longer exists.
  bool pass(JobState& job, const Measurement& measurement, const WorkerState* by, Instant now);
  // Asks the operator's device to measure the canary if no trusted worker could run it.
  void want_device(JobState& job);
  // Returns the tasks that wait on this worker after a long task of unknown length to the queue, so
  // that any free worker can take them. The only cost is that the worker may have fetched their
  // data already.
  void take_back(WorkerState& worker, Instant now);

 private:
  // Predicts the length of the job's other running tasks, which is possible now that its canary has
  // passed.
  void time_scouts(JobState& job, Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
