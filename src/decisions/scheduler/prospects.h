// How a task would fare on a worker: how long it takes there, whether the worker will still be
// there when it ends, and when a worker that has enough to do gets free.
//
// Pure; not safe to share between threads. Changes nothing. Times are seconds, as predicted by the
// job's slowest pace so far, or durations.
#pragma once

#include <algorithm>
#include <cstdint>

#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class Prospects {
 public:
  explicit Prospects(const SchedulerTables& tables) : tables_(tables) {}

  // 0 while the job's pace is not known.
  [[nodiscard]] double predicted_seconds(const WorkerState& worker, const JobState& job,
                                         std::uint32_t index) const;
  // How long a task may take there, the others in their slices included.
  [[nodiscard]] Duration wall_bound(const WorkerState& worker) const;
  // The chance that the task is done there; 0 where the worker is too slow for the bound on time.
  [[nodiscard]] double chance(const WorkerState& worker, const JobState& job, std::uint32_t index,
                              Instant now) const;
  // Whether that is enough (Settings::leaving_risk_max).
  [[nodiscard]] bool suits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                           Instant now) const;
  // Whether a task that takes so long is worth checkpoints, and may make way at one.
  [[nodiscard]] bool is_long(double predicted_seconds) const;
  // Workgroups of one dispatch, so that it takes Settings::dispatch_max at most; 0: the whole task
  // fits. The job's canary has passed.
  [[nodiscard]] std::uint32_t piece_workgroups_max(const WorkerState& worker,
                                                   const JobState& job) const;
  // In a worker that runs one task after the other: the first one's length is not known, and it has
  // run for so long that it may well take until its bound.
  [[nodiscard]] bool is_stuck(const WorkerState& worker) const;
  // Until the first worker that could run the job is expected to be free; Duration::max() where no
  // end is known. O(workers).
  [[nodiscard]] Duration starts_in(const JobState& job, Instant now) const;

 private:
  const SchedulerTables& tables_;
};

// Asked for each lease and each look at a worker.
inline double Prospects::predicted_seconds(const WorkerState& worker, const JobState& job,
                                           std::uint32_t index) const {
  const double alone = job.pace * job.range_count(index) / worker.rate;
  return worker.sliced() ? alone * worker.info.slots : alone;  // With all slots busy.
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
