#include "decisions/scheduler/wait_explainer.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "decisions/scheduler/canary_rules.h"

namespace weft::scheduler {
namespace {

constexpr std::size_t tasks_looked_at_max = 4;  // The most open tasks of a job that are looked at.

}  // namespace

struct WaitExplainer::Census {
  const TaskState* task = nullptr;  // Null if no replica of the task was leased yet.
  bool natives_only = false;        // True if the canary waits for a native worker.
  bool no_worker_fits = false;
  std::map<std::string, std::uint32_t> lacks;
  std::uint32_t others = 0;    // Able workers without a replica of the task.
  std::uint32_t asked = 0;     // Workers among `others` that may run the task now.
  std::uint32_t retrying = 0;  // Workers among `asked` that failed the task recently.
  std::uint32_t slow = 0;
  std::uint32_t no_memory = 0;
  std::uint32_t promised_away = 0;
  std::uint32_t unchecked = 0;
  std::uint32_t free = 0;
  std::optional<Instant> retry_at;
  double fastest = std::numeric_limits<double>::infinity();
};

void WaitExplainer::look_at_workers(const JobState& job, Instant now, Waiting& made,
                                    Census& census) const {
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (worker->gone) continue;
    ++made.connected;
    if (worker->info.slots == 0) {
      ++made.paused;
      continue;
    }
    if (census.no_worker_fits) {
      for (std::string& what : lacking(worker->info, job.requirements->key))
        ++census.lacks[std::move(what)];
      continue;
    }
    if (!std::ranges::contains(worker->classes, job.requirements)) continue;
    ++made.able;
    if (worker->info.price_min > job.per_unit) {
      made.accepted = made.accepted == 0 ? worker->info.price_min
                                         : std::min(made.accepted, worker->info.price_min);
      continue;
    }
    look_at(*worker, job, now, made, census);
  }
}

void WaitExplainer::look_at(const WorkerState& worker, const JobState& job, Instant now,
                            Waiting& made, Census& census) const {
  const PublicKey& key = worker.info.key;
  const TaskState* const task = census.task;
  if (task != nullptr && std::ranges::contains(task->replicas, key, &ReplicaOf::worker)) return;
  ++census.others;
  if (census.natives_only && !worker.native()) return;
  ++census.asked;
  if (task != nullptr &&
      parts_.long_runs.is_reserved_for_other(job.task_id(made.index), *task, key))
    return;
  if (task != nullptr) {
    const auto failure = std::ranges::find(task->failures, key, &FailureOn::worker);
    if (failure != task->failures.end() && failure->retry_at > now) {
      ++census.retrying;
      census.retry_at =
          census.retry_at ? std::min(*census.retry_at, failure->retry_at) : failure->retry_at;
      return;
    }
  }
  const double takes = parts_.prospects.predicted_seconds(worker, job, made.index);
  const double takes_max = seconds(parts_.prospects.wall_bound(worker));
  if (takes > takes_max) ++census.slow;
  if (takes < census.fastest) {
    census.fastest = takes;
    made.seconds_max = takes_max;
  }
  if (!worker.free_key) return;
  if (parts_.samples.is_late(worker, job, now)) {
    ++census.unchecked;
    return;
  }
  if (worker.sliced() && !parts_.promises.has_memory(worker, job)) {
    ++census.no_memory;
  } else if (!parts_.promises.admits(worker, job, made.index, now)) {
    ++census.promised_away;
  } else {
    ++census.free;
  }
}

std::uint32_t WaitExplainer::position_of(const JobState& job) const {
  const auto& queue = job.requirements->needing[job.listed_phase];
  std::uint32_t position = 1;
  for (auto at = queue.begin(); at != queue.end() && at->first < job.rank; ++at) {
    if (++position > Waiting::position_max) return 0;
  }
  return position;
}

std::optional<Waiting> WaitExplainer::why_waits(const JobState& job, std::uint32_t index,
                                                Instant now) const {
  const auto known = job.tasks.find(index);
  const TaskState* const task = known == job.tasks.end() ? nullptr : &known->second;
  Waiting made{.index = index, .lacks = {}, .seconds = {}};
  made.replicas = task != nullptr ? task->wanted + task->copies
                                  : (job.spec.replicas_first == 0 ? job.spec.replicas
                                                                  : job.spec.replicas_first);
  made.placed = task != nullptr ? static_cast<std::uint32_t>(task->replicas.size()) : 0;
  Census census{.task = task,
                .natives_only = waits_for_native(job),
                .no_worker_fits = !job.requirements->has_members(),
                .lacks = {},
                .retry_at = {}};
  look_at_workers(job, now, made, census);

  const auto because = [&](WaitReason reason, std::optional<double> after = {}) {
    made.reason = reason;
    if (after) made.seconds = std::max(*after, 0.0);
    return made;
  };
  if (made.connected == made.paused) return because(WaitReason::no_workers);
  if (census.no_worker_fits) {
    for (auto& [what, count] : census.lacks) made.lacks.push_back({.what = what, .workers = count});
    std::ranges::stable_sort(made.lacks, std::greater(), &Waiting::Lack::workers);
    return because(WaitReason::requirements);
  }
  made.per_unit = job.per_unit;
  if (job.able() == 0) return because(WaitReason::price);
  if (made.placed + census.others < made.replicas) return because(WaitReason::wallets);
  if (census.retrying == census.asked && census.retry_at)
    return because(WaitReason::retry, seconds(*census.retry_at - now));
  if (const auto until = tables_.resume_reservations.ends(job.task_id(index));
      until && census.free == 0)
    return because(WaitReason::own_state, seconds(*until - now));
  if (census.asked > census.retrying && census.slow == census.asked - census.retrying)
    return because(WaitReason::too_slow, census.fastest);
  if (tables_.preemption_requests.count_for(job.spec.id) > 0)
    return because(WaitReason::making_way);
  if (job.promised != nullptr)
    return because(WaitReason::reserved, seconds(job.promised->promise.start - now));
  if (census.free > 0) {
    // Without such a reason the task is about to go to a free worker, unless the job waits for a
    // better one (patient_until).
    if (!job.patient_until || *job.patient_until <= now) return {};
    return because(WaitReason::patience, seconds(*job.patient_until - now));
  }
  if (census.promised_away > 0) return because(WaitReason::promised);
  if (census.unchecked > 0) return because(WaitReason::checks);
  if (census.no_memory > 0) return because(WaitReason::memory);
  made.position = position_of(job);
  made.lead_seconds = seconds(tables_.clients.shares().lead(job.spec.client, now));
  const Duration soonest = parts_.prospects.starts_in(job, now);
  return because(WaitReason::busy,
                 soonest == Duration::max() ? std::nullopt : std::optional(seconds(soonest)));
}

std::optional<Waiting> WaitExplainer::explain(const JobState& job, Instant now) const {
  if (job.open.empty() && job.next_fresh() == job.spec.tasks)
    return {};  // No task waits: all unfinished tasks are running.
  if (job.canary == CanaryState::leased) {
    return Waiting{.reason = WaitReason::canary,
                   .index = job.canary_index.value_or(0),
                   .lacks = {},
                   .seconds = {}};
  }
  if (job.canary != CanaryState::passed && job.canary_index)
    return why_waits(job, *job.canary_index, now);
  std::vector<std::uint32_t> indices;
  for (auto each = job.open.begin(); each != job.open.end() && indices.size() < tasks_looked_at_max;
       ++each)
    indices.push_back(each->second);
  if (const std::uint32_t fresh = job.next_fresh(); fresh < job.spec.tasks)
    indices.push_back(fresh);
  std::optional<Waiting> nearest;
  for (const std::uint32_t index : indices) {
    auto found = why_waits(job, index, now);
    if (!found) return {};
    if (!nearest || found->reason > nearest->reason) nearest = std::move(found);
    if (nearest->reason == WaitReason::busy) break;
  }
  return nearest;
}

}  // namespace weft::scheduler
