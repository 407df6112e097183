#include "decisions/jobs/checkpoints.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/log.h"

namespace weft::jobs {

void Checkpoints::saved(const SavedState& saved, Moment now) {
  const protocol::Checkpoint& told = saved.told;
  const ConnectedWorker* const worker = tables_.workers.of_session(saved.session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  const RunningJob* const job = tables_.jobs.find(told.task.job);
  // True for a blob that may be stored and later removed: it is a checkpoint of this task and
  // nothing else.
  const bool is_one = told.done > 0 && told.done < told.of && saved.is_stored;
  if (job == nullptr || told.task.index >= job->row.tasks) {
    if (is_one) forget_blob(told.task, told.blob);  // The job has ended meanwhile.
    return;
  }
  if (!is_one) {
    log_warning("The worker {} sends a checkpoint of task {} that is not valid.", key.text(),
                told.task.text());
    if (told.stopped)
      (void)tables_.scheduler.failed(told.task, key, told.attempt,
                                     {ErrorCode::cancelled, "The worker gave the task back."},
                                     now.at);
    return;
  }
  const Kept kept{.blob = told.blob, .bytes = told.bytes, .done = told.done, .of = told.of};
  const auto taken = tables_.scheduler.checkpointed({.task = told.task,
                                                     .worker = key,
                                                     .attempt = told.attempt,
                                                     .done = kept.share(),
                                                     .stopped = told.stopped},
                                                    now.at);
  if (!taken) {
    log_debug("{}", taken.error().message);
    if (!names(told.task, told.blob)) forget_blob(told.task, told.blob);
    return;
  }
  const auto [place, is_new] = kept_[told.task].try_emplace(key, kept);
  if (!is_new) {
    const Hash before = std::exchange(place->second, kept).blob;
    if (!names(told.task, before)) forget_blob(told.task, before);
  }
  ++tables_.counters.checkpoints;
  tables_.outbox.batch().checkpoints.push_back({.row = {.task = told.task,
                                                        .worker = key,
                                                        .blob = kept.blob,
                                                        .bytes = kept.bytes,
                                                        .done = kept.done,
                                                        .of = kept.of}});
}

void Checkpoints::restore(std::span<const store::Checkpoint> rows) {
  for (const auto& row : rows) {
    const RunningJob* const job = tables_.jobs.find(row.task.job);
    const bool open =
        job != nullptr && row.task.index < job->row.tasks && !job->accepted[row.task.index];
    if (open && row.done > 0 && row.done < row.of) {
      kept_[row.task].insert_or_assign(
          row.worker, Kept{.blob = row.blob, .bytes = row.bytes, .done = row.done, .of = row.of});
    } else {
      drop(row.task, row.worker);
    }
  }
}

void Checkpoints::drop(const TaskId& task, const PublicKey& worker) {
  tables_.outbox.batch().checkpoints.push_back(
      {.row = {.task = task, .worker = worker}, .change = store::Change::remove});
}

bool Checkpoints::names(const TaskId& task, const Hash& blob) const {
  const auto of_task = kept_.find(task);
  return of_task != kept_.end() && std::ranges::any_of(of_task->second, [&](const auto& each) {
           return each.second.blob == blob;
         });
}

bool Checkpoints::others_may_go_on(const RunningJob& job, const PublicKey& from) const {
  return job.manifest->verify.replicas == 1 && job.manifest->verify.audit == 0 &&
         tables_.counted_level(from, tables_.latest.unix) != trust::Level::newcomer;
}

void Checkpoints::add_resume_points(protocol::Lease& lease, const PublicKey& worker) {
  const RunningJob* const job = tables_.jobs.find(lease.job);
  if (job == nullptr) return;
  for (const auto& task : lease.tasks) {
    const auto there = kept_.find({.job = lease.job, .index = task.index});
    if (there == kept_.end()) continue;
    const Kept* best = nullptr;
    for (const auto& [key, kept] : there->second) {
      if (key != worker && !others_may_go_on(*job, key)) continue;
      if (best == nullptr || kept.share() > best->share()) best = &kept;
    }
    if (best == nullptr) continue;
    ++tables_.counters.resumed;
    lease.resume.push_back(
        {.index = task.index, .blob = best->blob, .bytes = best->bytes, .done = best->done});
  }
}

void Checkpoints::forget(const TaskId& task) {
  const auto found = kept_.find(task);
  if (found == kept_.end()) return;
  std::vector<Hash> blobs;
  for (const auto& [key, kept] : found->second) {
    drop(task, key);
    blobs.push_back(kept.blob);
  }
  kept_.erase(found);
  if (held_.contains(task)) return;
  tables_.outbox.effect(
      [&world = tables_.world, blobs = std::move(blobs)] { world.forget(blobs); });
}

void Checkpoints::forget(const JobId& job) {
  for (auto next = kept_.lower_bound({.job = job, .index = 0});
       next != kept_.end() && next->first.job == job;
       next = kept_.lower_bound({.job = job, .index = 0}))
    forget(TaskId(next->first));
}

// A blob that stays because a check may read it, and that nothing names, is swept later.
void Checkpoints::forget_blob(const TaskId& task, const Hash& blob) {
  if (held_.contains(task)) return;
  tables_.outbox.effect([&world = tables_.world, blob] { world.forget({blob}); });
}

void Checkpoints::let_go(const TaskId& task, const std::vector<store::OutputBlob>& states) {
  held_.erase(task);
  std::vector<store::OutputBlob> unnamed;
  for (const store::OutputBlob& state : states) {
    if (!names(task, state.hash)) unnamed.push_back(state);
  }
  if (unnamed.empty()) return;
  tables_.outbox.effect([&world = tables_.world, job = task.job, states = std::move(unnamed)] {
    world.forget_states(job, states);
  });
}

double Checkpoints::resumed_share(const protocol::TaskResult& result,
                                  const PublicKey& worker) const {
  const RunningJob* const job = tables_.jobs.find(result.task.job);
  if (job == nullptr || result.resumed <= 0) return 0;
  const auto there = kept_.find(result.task);
  if (there == kept_.end()) return 0;
  double most = 0;
  for (const auto& [key, kept] : there->second) {
    if (key == worker || others_may_go_on(*job, key)) most = std::max(most, kept.share());
  }
  return std::min(result.resumed, most);
}

}  // namespace weft::jobs
