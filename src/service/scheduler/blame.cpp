// What a lost lease says about the task and its job: who is blamed, and when it is enough.
#include <algorithm>
#include <format>

#include "service/scheduler/state.h"

namespace weft::scheduler {
namespace {

void add_once(std::vector<PublicKey>& keys, const PublicKey& key) {
  if (!std::ranges::contains(keys, key)) keys.push_back(key);
}

std::size_t different(std::vector<PublicKey> keys) {
  std::ranges::sort(keys);
  return static_cast<std::size_t>(std::ranges::unique(keys).begin() - keys.begin());
}

}  // namespace

bool Scheduler::State::nobody_else(const JobState& job, const std::vector<PublicKey>& keys) const {
  const RequirementClass& asked = *job.requirements;
  constexpr auto native = static_cast<std::size_t>(protocol::WorkerKind::native);
  const bool natives_only = job.canary != CanaryState::passed && job.spec.kind == manifest::Kind::wgsl && asked.members[native] > 0;
  std::vector<PublicKey> connected;
  for (const PublicKey& key : keys) {
    const auto found = workers.find(key);
    if (found == workers.end() || found->second->info.slots == 0 || (natives_only && !found->second->native())) continue;
    if (std::ranges::contains(found->second->classes, job.requirements)) add_once(connected, key);
  }
  return connected.size() == (natives_only ? asked.members[native] : asked.members[0] + asked.members[1]);
}

std::optional<Error> Scheduler::State::blame(JobState& job, TaskState& task, std::uint32_t index, const WorkerState& worker, Blame kind,
                                             const Error& why, bool canary) const {
  const PublicKey& key = worker.info.key;
  if (kind == Blame::none || kind == Blame::busy || kind == Blame::forgery) return {};

  if (kind == Blame::refusal) {
    add_once(job.refusals, key);
    if (canary || job.refusals.size() >= settings.refusals_max) return why;
  }
  if (kind == Blame::timeout) {
    std::vector<PublicKey>& timeouts = canary ? job.timeouts : task.timeouts;
    timeouts.push_back(key);
    const bool on_all = different(timeouts) >= settings.timeouts_max || (timeouts.size() >= settings.timeouts_max && nobody_else(job, timeouts));
    if (on_all) {
      return Error{ErrorCode::deadline_exceeded,
                   std::format("Task {} ran out of its {} ms {} times, on {} {}: {}", index, settings.wall_max.count(), timeouts.size(),
                               different(timeouts), different(timeouts) == 1 ? "worker, the only one" : "workers", why.message)};
    }
  }
  if (kind == Blame::gone && worker.info.kind == protocol::WorkerKind::browser && job.spec.kind == manifest::Kind::wgsl) {
    std::vector<PublicKey>& lost = canary ? job.browsers_lost : task.browsers_lost;
    lost.push_back(key);
    if (lost.size() >= settings.browsers_lost_max) {
      return Error{ErrorCode::device_lost, std::format("{} browsers were lost while they ran task {} of this shader.", lost.size(), index)};
    }
  }

  add_once(task.failed, key);
  ++task.failed_attempts;
  if (task.failed.size() >= settings.failed_workers_max) {
    return Error{why.code, std::format("Task {} failed on {} different workers; the last one: {}", index, task.failed.size(), why.message)};
  }
  if (task.failed_attempts >= settings.failed_attempts_max) {
    return Error{why.code, std::format("Task {} failed {} times; the last time: {}", index, task.failed_attempts, why.message)};
  }
  return {};
}

}  // namespace weft::scheduler
