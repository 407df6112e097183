// Runs that are long enough for checkpoints: the scheduler knows of each what it has done, so that
// it can make way (preemption.h), and keeps its place for the only worker that can continue it
// (docs/decisions/0006).
//
// Pure; not safe to share between threads. Memory: an entry for each such run and each replica that
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

  // The run is one worker's if only that worker can continue from its state.
  [[nodiscard]] static RunId run_of(const JobState& job, std::uint32_t index,
                                    const PublicKey& worker);

  // The worker runs the task since then, and takes so many seconds. Nothing for a short one. How
  // long a canary takes is known with its first checkpoint.
  void watch(const WorkerState& worker, const JobState& job, std::uint32_t index, double predicted,
             Instant since);
  // The run has ended with a result,
  void done(const JobState& job, std::uint32_t index, const PublicKey& worker);
  // or without one: what its checkpoints hold stays known.
  void lost(const JobState& job, std::uint32_t index, const PublicKey& worker);
  // The task is settled, or its job ends.
  void forget(const TaskId& task);

  // Keeps the task for the worker whose lease has just ended so, having done so many seconds of it.
  // Nothing where any worker can continue it, or this one cannot.
  void reserve(const WorkerState& worker, JobState& job, std::uint32_t index, double done_seconds,
               Instant now);
  // Each replica that the task misses is kept for another worker.
  [[nodiscard]] bool is_reserved_for_other(const TaskId& id, const TaskState& task,
                                           const PublicKey& worker) const;
  // The worker is gone or has paused: any other may begin what was kept for it.
  void release_reservations(const WorkerState& worker);

 private:
  SchedulerTables& tables_;
  const Prospects& prospects_;
  Listings& listings_;
};

}  // namespace weft::scheduler
