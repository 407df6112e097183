// The memory of workers that share it between tasks. This part decides if a task fits beside the
// running ones, and which job is promised room (reservation.h). Among jobs with equal requirements,
// the first job that lacks only room has a promise.
//
// Invariant: a job, its class and its worker name the same promise, or none of them names one.
// Pure; not safe to share between threads.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_choice.h"

namespace weft::scheduler {

class RoomPromises {
 public:
  RoomPromises(SchedulerTables& tables, const Prospects& prospects, TaskChoice& choice)
      : tables_(tables), prospects_(prospects), choice_(choice) {}

  // True if a task of the job fits in a sliced worker's memory beside the running tasks.
  [[nodiscard]] bool has_memory(const WorkerState& worker, const JobState& job) const;
  // True if the worker has room for the task. A job that comes first and has a promise of room on
  // this worker must not be delayed.
  [[nodiscard]] bool admits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                            Instant now) const;

  // Promises room to a job that has just found none, on the worker that has room soonest. Does
  // nothing if a job before it in the queue has the promise of their class. O(sliced workers).
  void promise(JobState& job, Instant now);
  // Withdraws the job's promise, because the job has its room or no longer waits. Does nothing
  // without a promise.
  void withdraw(JobState& job);
  // Computes the start of the worker's promise again, because a task that comes before the promised
  // one went to the worker.
  void renew(WorkerState& worker, Instant now);

 private:
  [[nodiscard]] static std::uint64_t partition_of(const WorkerState& worker, const JobState& job);
  [[nodiscard]] std::vector<Occupant> occupants(const WorkerState& worker) const;

  SchedulerTables& tables_;
  const Prospects& prospects_;
  TaskChoice& choice_;
};

}  // namespace weft::scheduler
