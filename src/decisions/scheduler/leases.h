// The leases that workers hold. A lease is given, waits for its receipt after its result has come,
// and ends with a replica that counts or without one. This part also decides what the end of a
// lease means for the job: a loss may end the job.
//
// Invariant: each replica that is leased or reported is held by its worker, once, and counted in
// its job's leases. Pure; not safe to share between threads. Times are predicted seconds.
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

  // Leases the task to the worker, which must have room for the task and hold no replica of it.
  void give(WorkerState& worker, JobState& job, std::uint32_t index, std::uint32_t attempt,
            Instant now);
  // Call it when the result of one of the worker's running tasks has come. The client is charged
  // `charged` reference seconds for it. The slot is free now, and the lease waits for its receipt.
  void report(WorkerState& worker, std::vector<Holding>::iterator running, double charged,
              Instant now);
  // Inserts a reported task into the worker's list, which is ordered by `since`.
  static void await_receipt(WorkerState& worker, const Holding& reported);
  // Removes a lease from its worker. The replica stays with the task.
  void release(WorkerState& worker, JobState& job, std::uint32_t index, Instant now);
  // Gives a newcomer's lease of the job back, so that one more newcomer may have one.
  void give_try_back(JobState& job);

  // Ends the lease without a result. Returns false if this ended the job and deleted it.
  bool lose(WorkerState& worker, JobState& job, std::uint32_t index, Blame kind, const Error& why,
            Instant now);
  // Ends all leases of the worker. Only the task that it was running is blamed, with `head`.
  void lose_all(WorkerState& worker, Blame head, const Error& why, Instant now);
  // Cancels all leases of the job and tells the workers.
  void cancel(JobState& job, std::string_view reason, Instant now);
  // Cancels all leases of the job, tells the workers, and decides JobFailed. Deletes the job.
  void end_job(JobState& job, Error reason, Instant now);

 private:
  // Keeps the worker from the task for a while, after which the worker may get it again.
  void bar_for_a_while(const WorkerState& worker, JobState& job, std::uint32_t index, Blame kind,
                       Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
