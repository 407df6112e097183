#include "decisions/scheduler/prospects.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::scheduler {
namespace {

constexpr double brief_seconds = 0.25;  // A connected worker surely stays for this long.
// A task is long enough for checkpoints if it has room for this number of them.
constexpr int checkpoints_min = 20;

}  // namespace

double Prospects::chance(const WorkerState& worker, const JobState& job, std::uint32_t index,
                         Instant now) const {
  const double takes = predicted_seconds(worker, job, index);
  if (takes > seconds(wall_bound(worker))) return 0;
  const double until_done = takes + (worker.sliced() ? 0 : worker.load_seconds);
  return until_done < brief_seconds
             ? 1
             : worker.presence->stays(tables_.histories.unix_at(now), until_done);
}

bool Prospects::suits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                      Instant now) const {
  return chance(worker, job, index, now) >= 1 - tables_.settings.leaving_risk_max;
}

bool Prospects::is_long(double predicted) const {
  return tables_.settings.checkpoint_min.count() > 0 &&
         predicted >= seconds(tables_.settings.checkpoint_min) * checkpoints_min;
}

std::uint32_t Prospects::piece_workgroups_max(const WorkerState& worker,
                                              const JobState& job) const {
  const double fitting =
      // If the pace is 0, this number is infinite, and the task is one dispatch.
      seconds(tables_.settings.dispatch_max) * worker.rate / job.pace;
  return fitting < job.range_count(0) ? static_cast<std::uint32_t>(std::max(fitting, 1.0)) : 0;
}

Duration Prospects::starts_in(const JobState& job, Instant now) const {
  Duration soonest = Duration::max();
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (worker->info.slots == 0 || worker->running.empty() ||
        !std::ranges::contains(worker->classes, job.requirements))
      continue;
    // A sliced worker becomes free when the first of its tasks ends, any other worker when all its
    // tasks have ended.
    double left = std::numeric_limits<double>::infinity();
    if (worker->sliced()) {
      for (const Holding& each : worker->running) {
        if (each.seconds > 0) left = std::min(left, each.seconds - seconds(now - each.since));
      }
    } else if (worker->running.front().seconds > 0) {
      left = worker->load_seconds - seconds(now - worker->head_since);
    }
    if (std::isfinite(left))
      soonest = std::min(soonest, std::chrono::duration_cast<Duration>(
                                      std::chrono::duration<double>(std::max(left, 0.0))));
  }
  return soonest;
}

}  // namespace weft::scheduler
