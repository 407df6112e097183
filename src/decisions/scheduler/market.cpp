// What quotes are made of: trusted workers' rates, and paid work that has waited.
#include <algorithm>

#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr Duration waited_min = std::chrono::seconds(10);
constexpr Duration look_every = std::chrono::seconds(1);
// Work that only few workers can do counts for no longer than they would take for so long: what is
// made to wait, by asking for what is rare, costs its client nothing.
constexpr double class_seconds_max = 600;

// The part of the job's price that stands for tasks which no worker has, in units; what was granted
// is left out.
double waiting_units(const JobState& job) {
  if (!job.spec.estimate || job.per_unit <= 0) return 0;
  const double open = static_cast<double>(job.spec.tasks - job.settled_count) -
                      static_cast<double>(job.leases) / job.spec.replicas;
  return std::max(open, 0.0) / job.spec.tasks * static_cast<double>(job.spec.estimate->price) /
         static_cast<double>(job.per_unit) * std::clamp(job.spec.paid_share, 0.0, 1.0);
}

}  // namespace

void Scheduler::State::look_at_market(Instant now) {
  if (market_at && now - *market_at < look_every) return;
  market_at = now;
  fleet_rate = 0;
  for (const auto& [sequence, worker] : workers_in_order) {
    if (!worker->gone && worker->info.slots > 0 && !worker->newcomer()) fleet_rate += worker->rate;
  }
  waiting_seconds = 0;
  for (const auto& [key, each] : classes) {
    double waiting = 0;
    for (const auto& [rank, job] : each->needing[RequirementClass::open]) {
      if (now - job->since < waited_min || !has_trusted(*job)) continue;
      waiting += waiting_units(*job);
    }
    waiting_seconds += std::min(waiting, class_seconds_max * std::max(each->trusted_rates, 0.0));
  }
}

Market Scheduler::market(const Job& job, Instant now) {
  State& state = *state_;
  state.look_at_market(now);
  Market made{.waiting_seconds = state.waiting_seconds, .fleet_rate = state.fleet_rate};
  const ClassKey key = ClassKey::of(job);
  if (const auto found = state.classes.find(key); found != state.classes.end()) {
    made.fitting_rate = std::max(found->second->trusted_rates, 0.0);
    return made;
  }
  for (const auto& [sequence, worker] : state.workers_in_order) {
    if (!worker->gone && worker->info.slots > 0 && !worker->newcomer() && fits(worker->info, key))
      made.fitting_rate += worker->rate;
  }
  return made;
}

std::optional<double> Scheduler::busy() const {
  std::size_t trusted = 0;
  std::size_t busy = 0;
  for (const auto& [sequence, worker] : state_->workers_in_order) {
    if (worker->gone || worker->info.slots == 0 || worker->newcomer()) continue;
    ++trusted;
    busy += worker->running.empty() ? 0 : 1;
  }
  if (trusted == 0) return std::nullopt;
  return static_cast<double>(busy) / static_cast<double>(trusted);
}

}  // namespace weft::scheduler
