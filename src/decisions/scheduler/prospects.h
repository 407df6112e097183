// Predictions for a task on a worker: the time that it takes, the probability that the worker
// completes it, and the time at which a busy worker becomes free.
//
// Pure; not safe to share between threads. Changes nothing. Times are seconds, predicted from the
// job's slowest pace so far, or durations.
#pragma once

#include <algorithm>
#include <cstdint>

#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class Prospects {
 public:
  explicit Prospects(const SchedulerTables& tables) : tables_(tables) {}

  // The predicted time of the task on the worker; 0 while the job's pace is not known.
  [[nodiscard]] double predicted_seconds(const WorkerState& worker, const JobState& job,
                                         std::uint32_t index) const;
  // The longest time that a task may take on the worker, including the tasks in its other slices.
  [[nodiscard]] Duration wall_bound(const WorkerState& worker) const;
  // The probability that the worker completes the task; 0 if the worker is too slow for the time
  // bound.
  [[nodiscard]] double chance(const WorkerState& worker, const JobState& job, std::uint32_t index,
                              Instant now) const;
  // True if the probability that the worker completes the task is high enough
  // (Settings::leaving_risk_max).
  [[nodiscard]] bool suits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                           Instant now) const;
  // True if a task of this predicted length is worth checkpoints, and may make way at one.
  [[nodiscard]] bool is_long(double predicted_seconds) const;
  // The number of workgroups in one dispatch, chosen so that the dispatch takes at most
  // Settings::dispatch_max; 0 if the whole task fits in one dispatch. The job's canary must have
  // passed.
  [[nodiscard]] std::uint32_t piece_workgroups_max(const WorkerState& worker,
                                                   const JobState& job) const;
  // True if a worker that runs its tasks in turn has run its first task, whose length is not known,
  // for so long that the task may take until its time bound.
  [[nodiscard]] bool is_stuck(const WorkerState& worker) const;
  // Returns the time until the first worker that could run the job is expected to be free, or
  // Duration::max() if no worker's end is known. O(workers).
  [[nodiscard]] Duration starts_in(const JobState& job, Instant now) const;

 private:
  const SchedulerTables& tables_;
};

// Inline because it is called for each lease and each look at a worker.
inline double Prospects::predicted_seconds(const WorkerState& worker, const JobState& job,
                                           std::uint32_t index) const {
  const double alone = job.pace * job.range_count(index) / worker.rate;
  // A sliced worker is predicted with all slots busy.
  return worker.sliced() ? alone * worker.info.slots : alone;
}

inline Duration Prospects::wall_bound(const WorkerState& worker) const {
  return worker.sliced() ? tables_.settings.wall_max * std::max(worker.info.slots, 1U)
                         : tables_.settings.wall_max;
}

inline bool Prospects::is_stuck(const WorkerState& worker) const {
  return !worker.sliced() && !worker.running.empty() && worker.running.front().seconds <= 0 &&
         tables_.latest >= worker.head_since + tables_.settings.hold_max;
}

}  // namespace weft::scheduler
