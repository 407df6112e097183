#include "decisions/scheduler/scheduler_views.h"

#include <algorithm>

#include "decisions/scheduler/making_way.h"
#include "decisions/scheduler/market_view.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_copies.h"
#include "decisions/scheduler/wait_explainer.h"

namespace weft::scheduler {

Market SchedulerViews::market(const Job& job, Instant now) const {
  return parts_.market.of(ClassKey::of(job), tables_.workers.in_order(), tables_.classes.all(),
                          now);
}

std::optional<double> SchedulerViews::busy() const {
  std::size_t trusted = 0;
  std::size_t busy = 0;
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (worker->gone || worker->info.slots == 0 || worker->newcomer()) continue;
    ++trusted;
    busy += worker->running.empty() ? 0 : 1;
  }
  if (trusted == 0) return std::nullopt;
  return static_cast<double>(busy) / static_cast<double>(trusted);
}

std::vector<PublicKey> SchedulerViews::able(const JobId& job) const {
  std::vector<PublicKey> keys;
  const JobState* found = tables_.jobs.find(job);
  if (found == nullptr) return keys;
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (!worker->gone && worker->info.slots > 0 && worker->info.price_min <= found->per_unit &&
        std::ranges::contains(worker->classes, found->requirements))
      keys.push_back(worker->info.key);
  }
  return keys;
}

std::size_t SchedulerViews::able_count(const JobId& id) const {
  const JobState* job = tables_.jobs.find(id);
  return job == nullptr ? 0 : job->able();
}

LeaseTerms SchedulerViews::terms(const JobId& job, const PublicKey& worker) const {
  LeaseTerms terms{.piece_workgroups_max = 0,
                   .wall_ms_max = static_cast<std::uint32_t>(tables_.settings.wall_max.count())};
  const JobState* asked = tables_.jobs.find(job);
  const WorkerState* taker = tables_.workers.find(worker);
  if (asked == nullptr || taker == nullptr) return terms;
  terms.piece_workgroups_max = parts_.prospects.piece_workgroups_max(*taker, *asked);
  return terms;
}

std::optional<JobProgress> SchedulerViews::progress(const JobId& job) const {
  const JobState* found = tables_.jobs.find(job);
  if (found == nullptr) return {};
  return JobProgress{.settled = found->settled_count,
                     .leased = found->leases,
                     .canary_passed = found->canary == CanaryState::passed,
                     .estimate = found->spec.estimate};
}

std::optional<Waiting> SchedulerViews::waiting(const JobId& id, Instant now) const {
  const JobState* const job = tables_.jobs.find(id);
  return job == nullptr ? std::nullopt : parts_.explainer.explain(*job, now);
}

std::vector<PublicKey> SchedulerViews::clients() const { return tables_.clients.keys(); }

ClientShare SchedulerViews::share(const PublicKey& client, Instant now) const {
  const FairShares& shares = tables_.clients.shares();
  return {.jobs = static_cast<std::uint32_t>(tables_.clients.jobs_of(client)),
          .used_seconds = shares.usage(client, now),
          .lead_seconds = seconds(shares.lead(client, now))};
}

std::optional<WorkerLoad> SchedulerViews::load(const PublicKey& worker) const {
  const WorkerState* found = tables_.workers.find(worker);
  if (found == nullptr) return {};
  return WorkerLoad{.held = static_cast<std::uint32_t>(found->running.size()),
                    .slots = found->info.slots,
                    .rate = found->rate,
                    .price_min = found->info.price_min};
}

std::vector<ReservationView> SchedulerViews::reservations() const {
  std::vector<ReservationView> found;
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (worker->promised == nullptr) continue;
    found.push_back({.job = worker->promised->spec.id,
                     .worker = worker->info.key,
                     .start = worker->promise.start});
  }
  return found;
}

std::optional<double> SchedulerViews::stays(const PublicKey& worker, double seconds,
                                            Instant now) const {
  const WorkerState* found = tables_.workers.find(worker);
  if (found == nullptr) return {};
  return found->presence->stays(tables_.histories.unix_at(now), seconds);
}

const Presence* SchedulerViews::presence(const PublicKey& worker) const {
  return tables_.histories.presence(worker);
}

std::size_t SchedulerViews::workers() const { return tables_.workers.size(); }
std::size_t SchedulerViews::jobs() const { return tables_.jobs.size(); }

std::size_t SchedulerViews::copies() const { return parts_.copies.under_way(); }
std::uint64_t SchedulerViews::copies_made() const { return parts_.copies.made(); }
std::uint64_t SchedulerViews::preemptions() const { return parts_.making_way.made(); }

double SchedulerViews::sample_wait(Instant now) const { return parts_.samples.wait(now); }
bool SchedulerViews::samples_are_late(Instant now) const { return parts_.samples.are_late(now); }

}  // namespace weft::scheduler
