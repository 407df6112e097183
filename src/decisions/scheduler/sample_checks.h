// Newcomers' results that wait for a check, and the jobs that newcomers get nothing of meanwhile:
// how the queue of checks (sample_queue.h) and the queue of tasks meet.
//
// Pure; not safe to share between threads. Memory: an entry for each job that newcomers are kept
// from, besides the queue's.
#pragma once

#include <optional>
#include <set>

#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class SampleChecks {
 public:
  explicit SampleChecks(SchedulerTables& tables) : tables_(tables) {}

  // Whether the worker's result of the job could not be checked in time.
  [[nodiscard]] bool is_late(const WorkerState& worker, const JobState& job, Instant now) const;
  // Seconds until the sample of one more newcomer would be decided, and whether that is too long:
  // newcomers get no tasks then.
  [[nodiscard]] double wait(Instant now) const { return tables_.samples.wait(now); }
  [[nodiscard]] bool are_late(Instant now) const;

  // A newcomer was leased the task, whose result is checked if the job cuts tasks into parts.
  void leased(const WorkerState& worker, const JobState& job, std::uint32_t index);
  // A verifier has the result in its queue, and is going to compute such a part of the task again.
  // Nothing for a job that is unknown or whose results wait for no check.
  void begin(const TaskId& task, const PublicKey& worker, double share, Instant now);

  // Newcomers got nothing of the job, since checks are late: it is looked at again once they may.
  void keep(const JobState& job) { kept_.insert(job.spec.id); }
  void forget(const JobState& job);
  // Marks the jobs that newcomers may get something of again, no more often than once a second.
  void look_again(Instant now);
  // When that is to be called.
  [[nodiscard]] std::optional<Instant> next_look() const;

 private:
  [[nodiscard]] static SampleQueue::Sample sample_of(const WorkerState& worker,
                                                     const JobState& job);

  SchedulerTables& tables_;
  std::set<JobId> kept_;
  Instant looked_at_{};  // When those were looked at last.
};

}  // namespace weft::scheduler
