// Events of tasks: results come, count, are settled or found wrong, and leases fail.
//
// Pure; not safe to share between threads. Events for unknown tasks and leases do nothing, unless a
// function says otherwise.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/result.h"
#include "decisions/scheduler/canaries.h"
#include "decisions/scheduler/events.h"
#include "decisions/scheduler/learned_rates.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_copies.h"

namespace weft::scheduler {

class TaskEvents {
 public:
  struct Parts {
    Listings& listings;
    LongRuns& long_runs;
    TaskCopies& copies;
    ClassMembers& members;
    Leases& leases;
    Canaries& canaries;
    LearnedRates& rates;
  };
  TaskEvents(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Fails with not_found if the worker does not hold this attempt of the task, or has reported it.
  [[nodiscard]] Result<> result(const TaskResult& result, Instant now);
  // Begins the time limit for the receipt of the result at `then`.
  void awaits_receipt_from(const TaskId& task, const PublicKey& worker, Instant then);
  void counted(const TaskId& task, const PublicKey& worker);
  // Fails with not_found if the worker does not hold this attempt, or if its replica already
  // counts.
  [[nodiscard]] Result<> failed(const TaskId& task, const PublicKey& worker, std::uint32_t attempt,
                                const Error& error, Instant now);
  void settled(const TaskId& task, std::span<const PublicKey> by);
  void bar(const TaskId& task, const PublicKey& worker, Barred from);
  void want_replicas(const TaskId& task, std::uint32_t replicas);

 private:
  [[nodiscard]] Measurement measured(const WorkerState& worker, const Holding& holding,
                                     const TaskResult& result, Instant now) const;
  // learn_from() learns from the replicas of a settled task, and end_replicas() ends its other
  // leases.
  void learn_from(JobState& job, TaskState& task, std::span<const PublicKey> by);
  void end_replicas(JobState& job, TaskState& task, const TaskId& id,
                    std::span<const PublicKey> by);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
