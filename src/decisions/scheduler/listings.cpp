#include "decisions/scheduler/listings.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "decisions/scheduler/canary_rules.h"

namespace weft::scheduler {
namespace {

// Added to the slowness of a worker that let a lease expire. It is greater than the slowness of any
// rate, so that the worker comes last until it delivers again.
constexpr std::int32_t slowness_after_expiry = 1000;

FreeKey free_key_of(const WorkerState& worker) {
  const auto slowness = static_cast<std::int32_t>(std::lround(-4 * std::log2(worker.rate)));
  const auto milliseconds =
      static_cast<std::uint32_t>(std::clamp(worker.load_seconds * 1000, 0.0, 1e9));
  return {.newcomer = worker.ranks_last,
          .load = worker.running.empty()
                      ? 0U
                      : 1U + static_cast<std::uint32_t>(std::bit_width(milliseconds)),
          .held = static_cast<std::uint32_t>(worker.running.size()),
          .slowness = slowness + (worker.expiries > 0 ? slowness_after_expiry : 0),
          .sequence = worker.sequence};
}

// True if the worker has room. Tasks are leased in batches, so that a worker that was full has room
// again only when half of its tasks are done.
bool has_room(WorkerState& worker, const Settings& settings, const Prospects& prospects) {
  const std::size_t held = worker.running.size();
  const std::size_t slots = std::min(worker.info.slots, worker.leases_max);
  if (worker.sliced()) return held < slots;
  if (prospects.is_stuck(worker)) return false;
  if (held >= slots || (held > 0 && worker.load_seconds >= seconds(settings.hold_max))) {
    worker.full_at = std::max(worker.full_at, held);
    return false;
  }
  if (held > std::max<std::size_t>(worker.full_at / 2, 1)) return worker.full_at == 0;
  worker.full_at = 0;
  return true;
}

// The time at which the worker has to be checked; no value while it holds nothing.
std::optional<Instant> look_at(const WorkerState& worker, const Settings& settings,
                               const Prospects& prospects) {
  std::optional<Instant> deadline;
  const auto at_most = [&](Instant instant) {
    deadline = deadline ? std::min(*deadline, instant) : instant;
  };
  if (!worker.running.empty())
    at_most(worker.head_since + prospects.wall_bound(worker) + settings.grace);
  if (!worker.running.empty() && settings.speculation.enabled &&
      worker.running.front().seconds > 0) {
    const Holding& head = worker.running.front();
    at_most(
        std::max(late_at(settings.speculation, worker.head_since, head.seconds), head.look_again));
  }
  if (!worker.running.empty() && !worker.sliced() && worker.running.front().seconds <= 0 &&
      !prospects.is_stuck(worker))
    at_most(worker.head_since + settings.hold_max);
  if (!worker.reported.empty()) at_most(worker.reported.front().since + settings.grace);
  if (deadline) at_most(worker.heard + settings.beat * settings.beats_missed_max);
  return deadline;
}

}  // namespace

void Listings::list(JobState& job) {
  auto phase = RequirementClass::phases;
  if ((job.canary != CanaryState::leased || sends_scouts(tables_.settings, job)) &&
      (!job.open.empty() || job.has_fresh())) {
    phase = job.canary == CanaryState::waiting  ? RequirementClass::canary
            : job.canary == CanaryState::leased ? RequirementClass::scouts
                                                : RequirementClass::open;
  }
  if (phase == job.listed_phase) return;
  if (job.listed_phase != RequirementClass::phases)
    job.requirements->needing[job.listed_phase].erase(job.rank);
  if (phase != RequirementClass::phases) job.requirements->needing[phase][job.rank] = &job;
  job.listed_phase = phase;
}

void Listings::unlist(JobState& job) {
  if (job.listed_phase != RequirementClass::phases)
    job.requirements->needing[job.listed_phase].erase(job.rank);
  job.listed_phase = RequirementClass::phases;
}

void Listings::move(JobState& job, const Rank& next) {
  if (job.listed_phase != RequirementClass::phases) {
    auto& needing = job.requirements->needing[job.listed_phase];
    if (needing.erase(job.rank) > 0) needing[next] = &job;
  }
  tables_.agenda.move(job, next);
  job.rank = next;
}

void Listings::list(WorkerState& worker) {
  std::optional<FreeKey> key;
  if (!worker.gone && has_room(worker, tables_.settings, prospects_)) key = free_key_of(worker);
  if (key != worker.free_key) {
    for (RequirementClass* each : worker.classes) {
      auto& free = each->free[worker.side()];
      if (worker.free_key) free.erase(*worker.free_key);
      if (key) free[*key] = &worker;
    }
    worker.free_key = key;
  }

  const std::optional<Instant> deadline =
      worker.gone ? std::nullopt : look_at(worker, tables_.settings, prospects_);
  if (deadline == worker.deadline) return;
  if (worker.deadline) tables_.deadlines.workers.cancel(*worker.deadline, worker.sequence);
  if (deadline) tables_.deadlines.workers.set(*deadline, worker.sequence);
  worker.deadline = deadline;
}

}  // namespace weft::scheduler
