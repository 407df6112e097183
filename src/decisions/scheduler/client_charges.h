// What is done for a client moves its jobs in the queue: the work of each lease is charged when it
// is given, and corrected when its result has come or it is lost (client_queue.h).
//
// Within a pass over the queue jobs only ever move back. Pure; not safe to share between threads.
// Work is in seconds of the reference.
#pragma once

#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class ClientCharges {
 public:
  ClientCharges(SchedulerTables& tables, Listings& listings)
      : tables_(tables), listings_(listings) {}

  // Negative: it was not done after all.
  void charge(JobState& job, double reference_seconds, Instant now);
  // Before each pass over the queue: what was done is forgotten by and by, and shares follow the
  // workers that are here. O(workers) every five seconds or when their number has changed.
  void refresh(Instant now);

 private:
  // Within a pass a job only ever moves back, and what the pass goes through next is behind where
  // it was (matcher.h).
  void move(JobState& job, std::int64_t change);

  SchedulerTables& tables_;
  Listings& listings_;
};

}  // namespace weft::scheduler
