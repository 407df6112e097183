#include "decisions/scheduler/market_view.h"

#include <algorithm>

#include "decisions/scheduler/job_state.h"
#include "decisions/scheduler/worker_state.h"

namespace weft::scheduler {
namespace {

constexpr Duration waited_min = std::chrono::seconds(10);
constexpr Duration look_every = std::chrono::seconds(1);
// The waiting work of a class counts at most as the work of its workers for this time. Otherwise a
// client could raise prices for nothing, by jobs that wait because they ask for rare workers.
constexpr double class_seconds_max = 600;

// The part of the job's price, in units, for tasks that no worker has, as far as it is not paid
// with granted credits.
double waiting_units(const JobState& job) {
  if (!job.spec.estimate || job.per_unit <= 0) return 0;
  const double open = static_cast<double>(job.spec.tasks - job.settled_count) -
                      static_cast<double>(job.leases) / job.spec.replicas;
  return std::max(open, 0.0) / job.spec.tasks * static_cast<double>(job.spec.estimate->price) /
         static_cast<double>(job.per_unit) * std::clamp(job.spec.paid_share, 0.0, 1.0);
}

}  // namespace

void MarketView::look(const WorkersInOrder& workers, const ClassTable& classes, Instant now) {
  if (looked_at_ && now - *looked_at_ < look_every) return;
  looked_at_ = now;
  fleet_rate_ = 0;
  for (const auto& [sequence, worker] : workers) {
    if (!worker->gone && worker->info.slots > 0 && !worker->newcomer()) fleet_rate_ += worker->rate;
  }
  waiting_seconds_ = 0;
  for (const auto& [key, each] : classes) {
    double waiting = 0;
    for (const auto& [rank, job] : each->needing[RequirementClass::open]) {
      if (now - job->since < waited_min || !job->has_trusted()) continue;
      waiting += waiting_units(*job);
    }
    waiting_seconds_ += std::min(waiting, class_seconds_max * std::max(each->trusted_rates, 0.0));
  }
}

Market MarketView::of(const ClassKey& key, const WorkersInOrder& workers, const ClassTable& classes,
                      Instant now) {
  look(workers, classes, now);
  Market made{.waiting_seconds = waiting_seconds_, .fleet_rate = fleet_rate_};
  if (const auto found = classes.find(key); found != classes.end()) {
    made.fitting_rate = std::max(found->second->trusted_rates, 0.0);
    return made;
  }
  for (const auto& [sequence, worker] : workers) {
    if (!worker->gone && worker->info.slots > 0 && !worker->newcomer() && fits(worker->info, key))
      made.fitting_rate += worker->rate;
  }
  return made;
}

}  // namespace weft::scheduler
