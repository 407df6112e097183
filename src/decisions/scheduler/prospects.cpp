// How a task would fare on a worker: how long it takes there, and whether the worker will still be
// there.
#include <algorithm>

#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr double brief_seconds = 0.25;  // A connected worker is assumed to stay for so long.

}  // namespace

double Scheduler::State::predicted_seconds(const WorkerState& worker, const JobState& job,
                                           std::uint32_t index) const {
  const double alone = job.pace * job.range_count(index) / worker.rate;
  return worker.sliced() ? alone * worker.info.slots : alone;  // With all slots busy.
}

Duration Scheduler::State::wall_bound(const WorkerState& worker) const {
  return worker.sliced() ? tables_.settings.wall_max * std::max(worker.info.slots, 1U)
                         : tables_.settings.wall_max;
}

double Scheduler::State::prospect(const WorkerState& worker, const JobState& job,
                                  std::uint32_t index, Instant now) const {
  const double takes = predicted_seconds(worker, job, index);
  if (takes > seconds(wall_bound(worker))) return 0;
  const double until_done = takes + (worker.sliced() ? 0 : worker.load_seconds);
  return until_done < brief_seconds
             ? 1
             : worker.presence->stays(tables_.histories.unix_at(now), until_done);
}

bool Scheduler::State::suits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                             Instant now) const {
  return prospect(worker, job, index, now) >= 1 - tables_.settings.leaving_risk_max;
}

}  // namespace weft::scheduler
