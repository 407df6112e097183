// Runs that are long enough for checkpoints. The scheduler knows the progress of each run, so that
// the run can make way (preemption.h). It reserves a task that made way for its worker if only this
// worker can continue it (docs/decisions/0006).
//
// Pure; not safe to share between threads. Memory: an entry for each long run and each replica that
// made way.
#pragma once

#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class LongRuns {
 public:
  LongRuns(SchedulerTables& tables, const Prospects& prospects, Listings& listings)
      : tables_(tables), prospects_(prospects), listings_(listings) {}

  // The id of the run. It names the worker if only this worker can continue from the run's state.
  [[nodiscard]] static RunId run_of(const JobState& job, std::uint32_t index,
                                    const PublicKey& worker);

  // Records that the worker runs the task since `since`, which is predicted to take `predicted`
  // seconds. Does nothing for a short task. The length of a canary is known with its first
  // checkpoint.
  void watch(const WorkerState& worker, const JobState& job, std::uint32_t index, double predicted,
             Instant since);
  // Call it when the run has ended with a result.
  void done(const JobState& job, std::uint32_t index, const PublicKey& worker);
  // Call it when the run has ended without a result: its latest checkpoint stays known.
  void lost(const JobState& job, std::uint32_t index, const PublicKey& worker);
  // Call it when the task is settled or its job ends.
  void forget(const TaskId& task);

  // Reserves the task for the worker whose lease has just ended after `done_seconds` of work. Does
  // nothing if any worker can continue the task, or if this worker cannot.
  void reserve(const WorkerState& worker, JobState& job, std::uint32_t index, double done_seconds,
               Instant now);
  // True if each replica that the task misses is reserved for another worker.
  [[nodiscard]] bool is_reserved_for_other(const TaskId& id, const TaskState& task,
                                           const PublicKey& worker) const;
  // Releases the reservations of a worker that is gone or has paused: any other worker may begin
  // the reserved tasks.
  void release_reservations(const WorkerState& worker);

 private:
  SchedulerTables& tables_;
  const Prospects& prospects_;
  Listings& listings_;
};

}  // namespace weft::scheduler
