// Charges clients for the work that is done for them, which moves their jobs in the queue. The work
// of a lease is charged when the lease is given, and corrected when its result has come or the
// lease is lost (client_queue.h).
//
// During a pass over the queue, jobs only move further back. Pure; not safe to share between
// threads. Work is in seconds of the reference.
#pragma once

#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class ClientCharges {
 public:
  ClientCharges(SchedulerTables& tables, Listings& listings)
      : tables_(tables), listings_(listings) {}

  // Charges the job's client. A negative number takes back a charge for work that was not done.
  void charge(JobState& job, double reference_seconds, Instant now);
  // Call this before each pass over the queue. Old usage decays, and the clients' shares follow the
  // capacity of the connected workers. O(workers) every five seconds or when the number of workers
  // has changed.
  void refresh(Instant now);

 private:
  // Changes the job's rank. During a pass over the queue a job only moves further back, so that the
  // next job of the pass still comes after the old place (matcher.h).
  void move(JobState& job, std::int64_t change);

  SchedulerTables& tables_;
  Listings& listings_;
};

}  // namespace weft::scheduler
