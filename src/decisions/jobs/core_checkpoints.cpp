// States of long tasks: stored with their task, handed out with its next lease, forgotten with its
// end.
//
// Which state a worker continues from: always its own wallet's. Another's only if no worker can be
// punished for the result (one replica and no audits): under a quorum one bad checkpoint would make
// replicas agree on a wrong result, and under audits it would convict a worker that continued from
// it.
#include <algorithm>

#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {
namespace {

double share_of(const RunningJob::Kept& kept) { return static_cast<double>(kept.done) / kept.of; }

// Equal states of two workers are one blob.
bool names(const RunningJob& job, std::uint32_t index, const Hash& blob) {
  const auto of_task = job.checkpoints.find(index);
  return of_task != job.checkpoints.end() &&
         std::ranges::any_of(of_task->second,
                             [&](const auto& each) { return each.second.blob == blob; });
}

bool another_may_go_on(const RunningJob& job) {
  return job.manifest->verify.replicas == 1 && job.manifest->verify.audit == 0;
}

}  // namespace

void Core::checkpointed(const SavedState& saved, Moment now) {
  State& state = *state_;
  const protocol::Checkpoint& told = saved.told;
  auto* worker = state.worker_of(saved.session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  const auto job = state.jobs.find(told.task.job);
  // What may be stored, and later removed: a state of this task and nothing else.
  const bool is_one = told.done > 0 && told.done < told.of && saved.is_stored;
  if (job == state.jobs.end() || told.task.index >= job->second.row.tasks) {
    if (is_one)
      state.effect(
          [&state, blob = told.blob] { state.parts.world.forget({blob}); });  // It came too late.
    return;
  }
  RunningJob& running = job->second;
  if (!is_one) {
    log_warning("What {} sends as a checkpoint of {} is not one.", key.text(), told.task.text());
    if (told.stopped)
      (void)state.scheduler.failed(told.task, key, told.attempt,
                                   {ErrorCode::cancelled, "It was given back."}, now.at);
    return;
  }
  const RunningJob::Kept kept{
      .blob = told.blob, .bytes = told.bytes, .done = told.done, .of = told.of};
  const auto taken = state.scheduler.checkpointed({.task = told.task,
                                                   .worker = key,
                                                   .attempt = told.attempt,
                                                   .done = share_of(kept),
                                                   .stopped = told.stopped},
                                                  now.at);
  if (!taken) {
    log_debug("{}", taken.error().message);
    if (names(running, told.task.index, told.blob)) return;
    return state.effect([&state, blob = told.blob] { state.parts.world.forget({blob}); });
  }
  auto& of_task = running.checkpoints[told.task.index];
  const auto [place, is_new] = of_task.try_emplace(key, kept);
  if (!is_new) {
    const Hash before = std::exchange(place->second, kept).blob;
    if (!names(running, told.task.index, before))
      state.effect([&state, before] { state.parts.world.forget({before}); });
  }
  ++state.counters.checkpoints;
  state.batch.checkpoints.push_back({.row = {.task = told.task,
                                             .worker = key,
                                             .blob = kept.blob,
                                             .bytes = kept.bytes,
                                             .done = kept.done,
                                             .of = kept.of}});
}

void Core::State::restore_checkpoints(std::span<const store::Checkpoint> rows) {
  for (const auto& row : rows) {
    const auto job = jobs.find(row.task.job);
    const bool open = job != jobs.end() && row.task.index < job->second.row.tasks &&
                      !job->second.accepted[row.task.index];
    if (open && row.done > 0 && row.done < row.of) {
      job->second.checkpoints[row.task.index].insert_or_assign(
          row.worker,
          RunningJob::Kept{.blob = row.blob, .bytes = row.bytes, .done = row.done, .of = row.of});
    } else {
      drop_checkpoint(row.task, row.worker);
    }
  }
}

void Core::State::drop_checkpoint(const TaskId& task, const PublicKey& worker) {
  batch.checkpoints.push_back(
      {.row = {.task = task, .worker = worker}, .change = store::Change::remove});
}

bool Core::State::others_may_go_on(const RunningJob& job, const PublicKey& from) const {
  return another_may_go_on(job) && answer_level(from, unix_now) != trust::Level::newcomer;
}

void Core::State::add_resume_points(protocol::Lease& lease, const PublicKey& worker) {
  const auto found = jobs.find(lease.job);
  if (found == jobs.end() || found->second.checkpoints.empty()) return;
  const RunningJob& job = found->second;
  for (const auto& task : lease.tasks) {
    const auto there = job.checkpoints.find(task.index);
    if (there == job.checkpoints.end()) continue;
    const RunningJob::Kept* best = nullptr;
    for (const auto& [key, kept] : there->second) {
      if (key != worker && !others_may_go_on(job, key)) continue;
      if (best == nullptr || share_of(kept) > share_of(*best)) best = &kept;
    }
    if (best == nullptr) continue;
    ++counters.resumed;
    lease.resume.push_back(
        {.index = task.index, .blob = best->blob, .bytes = best->bytes, .done = best->done});
  }
}

// Workers that run several tasks at a time are told between whom, and at which weight.
void Core::State::add_client(protocol::Lease& lease, const PublicKey& worker) const {
  const auto taker = workers.find(worker);
  const auto job = jobs.find(lease.job);
  if (taker == workers.end() || job == jobs.end() || taker->second.hello.slice_memory_bytes == 0)
    return;
  lease.client = job->second.row.client;
  lease.weight = weight_of(lease.client);
}

void Core::State::forget_checkpoints(RunningJob& job, std::uint32_t index) {
  const auto found = job.checkpoints.find(index);
  if (found == job.checkpoints.end()) return;
  std::vector<Hash> blobs;
  for (const auto& [key, kept] : found->second) {
    drop_checkpoint({.job = job.row.id, .index = index}, key);
    blobs.push_back(kept.blob);
  }
  job.checkpoints.erase(found);
  effect([this, blobs = std::move(blobs)] { parts.world.forget(blobs); });
}

void Core::State::forget_checkpoints(RunningJob& job) {
  while (!job.checkpoints.empty()) forget_checkpoints(job, job.checkpoints.begin()->first);
}

double Core::State::resumed_share(const protocol::TaskResult& result,
                                  const PublicKey& worker) const {
  const auto job = jobs.find(result.task.job);
  if (job == jobs.end() || result.resumed <= 0) return 0;
  const auto there = job->second.checkpoints.find(result.task.index);
  if (there == job->second.checkpoints.end()) return 0;
  double most = 0;
  for (const auto& [key, kept] : there->second) {
    if (key == worker || others_may_go_on(job->second, key)) most = std::max(most, share_of(kept));
  }
  return std::min(result.resumed, most);
}

}  // namespace weft::jobs
