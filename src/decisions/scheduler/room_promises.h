// The memory of shared workers: which task fits beside what runs there, and which job is promised
// room (reservation.h). Of the jobs that require the same, the first one that only lacks room has
// a promise.
//
// Invariant: a job, its class and its worker name the same promise, or none. Pure; not safe to
// share between threads.
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

  // Beside what runs on a sliced worker.
  [[nodiscard]] bool has_memory(const WorkerState& worker, const JobState& job) const;
  // Whether the worker has room for the task, and no job that comes first waits longer for it.
  [[nodiscard]] bool admits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                            Instant now) const;

  // The job, which has just found no room, gets a promise on the worker that has room soonest,
  // unless a job before it has the promise of their class. O(sliced workers).
  void promise(JobState& job, Instant now);
  // The job has what it waited for, or waits no more. Nothing without a promise.
  void withdraw(JobState& job);
  // Something went to the worker that comes before the promised task.
  void renew(WorkerState& worker, Instant now);

 private:
  [[nodiscard]] static std::uint64_t partition_of(const WorkerState& worker, const JobState& job);
  [[nodiscard]] std::vector<Occupant> occupants(const WorkerState& worker) const;

  SchedulerTables& tables_;
  const Prospects& prospects_;
  TaskChoice& choice_;
};

}  // namespace weft::scheduler
