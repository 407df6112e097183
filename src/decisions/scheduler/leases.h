// What workers hold: a lease is given, waits for its receipt once its result has come, and ends
// with a replica that counts or without one. What that means for the job is decided here, too: a
// loss may end it.
//
// Invariant: each replica that is leased or reported is held by its worker, once, and counted in
// its job's leases. Pure; not safe to share between threads. Times are seconds, as predicted.
#pragma once

#include <cstdint>
#include <string_view>

#include "decisions/scheduler/blame.h"
#include "decisions/scheduler/client_charges.h"
#include "decisions/scheduler/job_removal.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_copies.h"

namespace weft::scheduler {

class Leases {
 public:
  struct Parts {
    const Prospects& prospects;
    const BlameRules& blame;
    Listings& listings;
    ClientCharges& charges;
    LongRuns& long_runs;
    SampleChecks& samples;
    TaskCopies& copies;
    RoomPromises& promises;
    JobRemoval& removal;
  };
  Leases(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // The worker has room for the task and holds no replica of it.
  void give(WorkerState& worker, JobState& job, std::uint32_t index, std::uint32_t attempt,
            Instant now);
  // The result of one of its running tasks has come, which took so many seconds of the reference:
  // the slot is free, and the receipt is waited for.
  void report(WorkerState& worker, std::vector<Holding>::iterator running, double charged,
              Instant now);
  // In the order of `since`.
  static void await_receipt(WorkerState& worker, const Holding& reported);
  // Takes a lease from its worker; the replica stays with the task.
  void release(WorkerState& worker, JobState& job, std::uint32_t index, Instant now);
  // One more newcomer may have a lease of the job again.
  void give_try_back(JobState& job);

  // The lease is over without a result. False where that ended the job, which is gone then.
  bool lose(WorkerState& worker, JobState& job, std::uint32_t index, Blame kind, const Error& why,
            Instant now);
  // Everything that the worker holds; only what it was running is blamed.
  void lose_all(WorkerState& worker, Blame head, const Error& why, Instant now);
  // Those of the job: workers are told so.
  void cancel(JobState& job, std::string_view reason, Instant now);
  // The same, and the job has failed. It is gone then.
  void end_job(JobState& job, Error reason, Instant now);

 private:
  // The task may go to the worker again, but not at once.
  void bar_for_a_while(const WorkerState& worker, JobState& job, std::uint32_t index, Blame kind,
                       Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
