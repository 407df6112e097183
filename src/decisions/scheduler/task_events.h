// What happens to tasks: results come, count, are settled or found wrong, leases fail.
//
// Pure; not safe to share between threads. Tasks and leases that are not known are nothing, except
// where a function says so.
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

  // not_found if the worker does not hold this attempt of the task, or has reported it.
  [[nodiscard]] Result<> result(const TaskResult& result, Instant now);
  // The time for the receipt of the result begins then.
  void awaits_receipt_from(const TaskId& task, const PublicKey& worker, Instant then);
  void counted(const TaskId& task, const PublicKey& worker);
  // not_found if the worker holds no such attempt, or it counts.
  [[nodiscard]] Result<> failed(const TaskId& task, const PublicKey& worker, std::uint32_t attempt,
                                const Error& error, Instant now);
  void settled(const TaskId& task, std::span<const PublicKey> by);
  void bar(const TaskId& task, const PublicKey& worker);
  void want_replicas(const TaskId& task, std::uint32_t replicas);

 private:
  [[nodiscard]] Measurement measured(const WorkerState& worker, const Holding& holding,
                                     const TaskResult& result, Instant now) const;
  // What the replicas of a settled task showed, and what is left of them, is done with.
  void learn_from(JobState& job, TaskState& task, std::span<const PublicKey> by);
  void end_replicas(JobState& job, TaskState& task, const TaskId& id,
                    std::span<const PublicKey> by);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
