// Copies of late tasks (speculation.h): a task that is late in the tail of its job gets one more
// replica. When one of the two replicas has ended, the other no longer counts as a copy.
//
// Pure; not safe to share between threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class TaskCopies {
 public:
  TaskCopies(SchedulerTables& tables, Listings& listings) : tables_(tables), listings_(listings) {}

  // Copies the worker's first task if the task is late and another worker could run it. Call this
  // when the task may be late.
  void look_for_late(WorkerState& worker, Instant now);
  // Stops counting `count` copies of the task, because they are replicas now or are gone.
  void drop(JobState& job, TaskState& task, std::uint32_t count);
  // Stops counting the copies of a job that ends.
  void forget(const JobState& job) { under_way_ -= job.copies; }

  // under_way() counts the copies that are under way, made() all that were ever made.
  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  [[nodiscard]] std::uint64_t made() const { return made_; }

 private:
  SchedulerTables& tables_;
  Listings& listings_;
  std::size_t under_way_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace weft::scheduler
