// Newcomers' results that wait for a check, and the jobs of which newcomers get no tasks meanwhile.
// This part connects the queue of checks (sample_queue.h) to the queue of tasks.
//
// Pure; not safe to share between threads. Memory: an entry for each job whose tasks newcomers do
// not get, besides the entries of the queue of checks.
#pragma once

#include <optional>
#include <set>

#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class SampleChecks {
 public:
  explicit SampleChecks(SchedulerTables& tables) : tables_(tables) {}

  // True if the worker's result of the job could not be checked in time.
  [[nodiscard]] bool is_late(const WorkerState& worker, const JobState& job, Instant now) const;
  // wait() is the number of seconds until the sample of one more newcomer would be decided. If
  // are_late() is true, this is too long, and newcomers get no tasks.
  [[nodiscard]] double wait(Instant now) const { return tables_.samples.wait(now); }
  [[nodiscard]] bool are_late(Instant now) const;

  // Call it when a newcomer was leased the task. Its result will be checked if the job cuts tasks
  // into parts.
  void leased(const WorkerState& worker, const JobState& job, std::uint32_t index);
  // Call it when a verifier has put the result into its queue, to compute the share `share` of the
  // task again. Does nothing if the job is unknown or its results wait for no check.
  void begin(const TaskId& task, const PublicKey& worker, double share, Instant now);

  // Records that newcomers got no task of the job because checks are late. The job is looked at
  // again when newcomers may get its tasks.
  void keep(const JobState& job) { kept_.insert(job.spec.id); }
  void forget(const JobState& job);
  // Marks the jobs of which newcomers may get tasks again, at most once a second.
  void look_again(Instant now);
  // The time at which look_again() is to be called.
  [[nodiscard]] std::optional<Instant> next_look() const;

 private:
  [[nodiscard]] static SampleQueue::Sample sample_of(const WorkerState& worker,
                                                     const JobState& job);

  SchedulerTables& tables_;
  std::set<JobId> kept_;
  Instant looked_at_{};  // Time at which look_again() last marked jobs.
};

}  // namespace weft::scheduler
