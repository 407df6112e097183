#include "decisions/scheduler/task_choice.h"

#include <algorithm>
#include <cmath>

#include "decisions/scheduler/canary_rules.h"

namespace weft::scheduler {

std::optional<std::uint32_t> TaskChoice::task_for(const WorkerState& worker, JobState& job,
                                                  Instant now) {
  const PublicKey& key = worker.info.key;
  if (worker.info.price_min > job.per_unit || keeps_from(worker, job, now) ||
      std::ranges::contains(job.barred, key) || parts_.prices.leaves_canary(worker, job))
    return {};
  const bool leaves_lost_tasks = worker.newcomer() && job.has_trusted();
  const auto may_take = [&](std::uint32_t index, const TaskState& task) {
    if (leaves_lost_tasks && task.for_trusted) return false;
    if (parts_.long_runs.is_reserved_for_other(job.task_id(index), task, key)) return false;
    const auto failure = std::ranges::find(task.failures, key, &FailureOn::worker);
    return std::ranges::find(task.replicas, key, &ReplicaOf::worker) == task.replicas.end() &&
           (failure == task.failures.end() || failure->retry_at <= now);
  };
  if (job.canary == CanaryState::leased) {
    if (!may_scout(tables_.settings, worker, job)) return {};
  } else if (job.canary != CanaryState::passed && job.canary_index) {
    // The canary was chosen before, and this task stays the canary.
    const auto canary = job.tasks.find(*job.canary_index);
    return canary != job.tasks.end() && canary->second.missing() &&
                   may_take(canary->first, canary->second)
               ? job.canary_index
               : std::nullopt;
  }
  // A task that is reserved for this worker goes first, because no other worker has its state.
  for (const TaskId& own : tables_.resume_reservations.of(job.spec.id, key)) {
    const auto task = job.tasks.find(own.index);
    if (task != job.tasks.end() && task->second.missing() && may_take(task->first, task->second))
      return task->first;
  }
  const auto before = job.passed.find(key);
  const std::uint64_t from = before == job.passed.end() ? 0 : before->second;
  const auto start = job.open.lower_bound(from);
  auto at = start;
  for (; at != job.open.end(); ++at) {
    if (may_take(at->second, job.tasks.at(at->second))) break;
  }
  if (at != start) job.passed[key] = at == job.open.end() ? job.next_sequence : at->first;
  if (at != job.open.end()) return at->second;
  if (job.has_fresh()) return job.fresh;
  return {};
}

bool TaskChoice::keeps_from(const WorkerState& worker, const JobState& job, Instant now) {
  if (!worker.newcomer()) return false;
  const Safeguards& rules = tables_.settings.safeguards;
  // Until the canary has passed, newcomers get no task: a trusted worker or the operator's device
  // measures the price.
  if (job.canary != CanaryState::passed && rules.trusted_canaries && !job.spec.anyone) return true;
  const double most = std::max(1.0, std::floor(rules.newcomer_share_max * job.spec.tasks));
  const bool is_bounded = job.has_trusted();
  if (is_bounded && job.newcomer_tries >= most) return true;
  if (parts_.samples.is_late(worker, job, now)) {
    parts_.samples.keep(job);
    return true;
  }
  const std::size_t prefixes = tables_.workers.newcomer_prefixes();
  if (!rules.prefixes_share || worker.info.prefix.empty() || prefixes < 2) return false;
  const double all = is_bounded ? most : job.spec.tasks;
  return job.prefix_leases.of(worker.info.prefix) >= prefix_share(all, prefixes);
}

}  // namespace weft::scheduler
