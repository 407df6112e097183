#include "decisions/scheduler/blame.h"

#include <algorithm>

#include "common/base/format.h"

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

Blame blame_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return Blame::refusal;
    case ErrorCode::resource_exhausted:
      return Blame::unable;
    case ErrorCode::deadline_exceeded:
      return Blame::timeout;
    case ErrorCode::cancelled:
      return Blame::busy;
    case ErrorCode::already_exists:
      return Blame::signed_before;
    case ErrorCode::data_loss:
      return Blame::forgery;
    default:
      return Blame::failure;
  }
}

bool BlameRules::no_other_worker(const JobState& job, const std::vector<PublicKey>& keys) const {
  constexpr auto native = static_cast<std::size_t>(protocol::WorkerKind::native);
  const bool natives_only = job.canary != CanaryState::passed &&
                            job.spec.kind == manifest::Kind::wgsl && job.able(native) > 0;
  std::vector<PublicKey> connected;
  for (const PublicKey& key : keys) {
    const WorkerState* const found = tables_.workers.find(key);
    if (found == nullptr || found->info.slots == 0 || (natives_only && !found->native()) ||
        found->info.price_min > job.per_unit)
      continue;
    if (std::ranges::contains(found->classes, job.requirements)) add_once(connected, key);
  }
  return connected.size() == (natives_only ? job.able(native) : job.able());
}

std::size_t BlameRules::trusted_among(const std::vector<PublicKey>& keys) const {
  std::vector<PublicKey> trusted;
  for (const PublicKey& key : keys) {
    if (tables_.histories.trusted(key)) add_once(trusted, key);
  }
  return trusted.size();
}

// True if the losses of the workers `keys` are enough to blame the job. One trusted worker among
// them is enough if the task ran out of time on all of them. One is not enough for other losses: if
// a trusted worker happens to lose its connection, this does not prove that newcomers with failures
// tell the truth.
bool BlameRules::are_enough(const JobState& job, const std::vector<PublicKey>& keys,
                            std::size_t enough, Blame kind) const {
  if (!tables_.settings.safeguards.trusted_blame) return different(keys) >= enough;
  const std::size_t trusted = trusted_among(keys);
  constexpr std::size_t with_newcomers = 3;
  return trusted >= enough ||
         (trusted > 0 && kind == Blame::timeout &&
          different(keys) >= std::max(enough, with_newcomers)) ||
         (different(keys) >= enough && no_other_worker(job, keys));
}

std::optional<Error> BlameRules::note(JobState& job, TaskState& task, const WorkerState& worker,
                                      const Loss& loss, const Error& why) const {
  const auto [index, kind, canary] = loss;
  const PublicKey& key = worker.info.key;
  if (kind == Blame::none || kind == Blame::ours || kind == Blame::busy ||
      kind == Blame::signed_before || kind == Blame::forgery)
    return {};

  const bool counts = !worker.newcomer() || !tables_.settings.safeguards.trusted_blame;
  if (kind == Blame::refusal) {
    add_once(job.refusals, key);
    // A refusal of the canary is enough if its worker is trusted.
    if ((canary && counts) || are_enough(job, job.refusals, tables_.settings.refusals_max, kind) ||
        (canary && no_other_worker(job, job.refusals)))
      return why;
  }
  if (kind == Blame::unable) {
    add_once(job.unable, key);
    if (no_other_worker(job, job.unable)) return why;
    return {};
  }
  if (kind == Blame::timeout) {
    std::vector<PublicKey>& timeouts = canary ? job.timeouts : task.timeouts;
    timeouts.push_back(key);
    const bool on_all =
        are_enough(job, timeouts, tables_.settings.timeouts_max, kind) ||
        (timeouts.size() >= tables_.settings.timeouts_max && no_other_worker(job, timeouts));
    if (on_all) {
      return Error{
          ErrorCode::deadline_exceeded,
          weft::format("Task {} ran out of its {} ms {} times, on {} {}: {}", index,
                       tables_.settings.wall_max.count(), timeouts.size(), different(timeouts),
                       different(timeouts) == 1 ? "worker, the only one" : "workers", why.message)};
    }
  }
  if (kind == Blame::gone && worker.info.kind == protocol::WorkerKind::browser &&
      job.spec.kind == manifest::Kind::wgsl) {
    std::vector<PublicKey>& lost = canary ? job.browsers_lost : task.browsers_lost;
    lost.push_back(key);
    const bool others = job.able() > 1;
    if (lost.size() >= tables_.settings.browsers_lost_max && (counts || !others)) {
      return Error{ErrorCode::device_lost,
                   weft::format("{} browsers were lost while they ran task {} of this shader.",
                                lost.size(), index)};
    }
  }

  add_once(task.failed, key);
  if (are_enough(job, task.failed, tables_.settings.failed_workers_max, kind)) {
    return Error{why.code, weft::format("Task {} failed on {} different workers; the last one: {}",
                                        index, task.failed.size(), why.message)};
  }
  ++(counts ? task.failed_attempts : task.newcomer_attempts);
  const std::uint32_t attempts = task.failed_attempts + task.newcomer_attempts;
  if (task.failed_attempts >= tables_.settings.failed_attempts_max ||
      (attempts >= tables_.settings.failed_attempts_max && no_other_worker(job, task.failed))) {
    return Error{why.code, weft::format("Task {} failed {} times; the last time: {}", index,
                                        attempts, why.message)};
  }
  return {};
}

}  // namespace weft::scheduler
