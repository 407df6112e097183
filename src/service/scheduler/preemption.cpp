#include "service/scheduler/preemption.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

void Preemption::began(const TaskId& id, const PublicKey& worker, const Run& run, Instant now) {
  Task& task = tasks_[id];
  task.worker = worker;
  task.run = run;
  task.began = now;
  task.known = now;
  task.done_known = task.checkpoint ? task.checkpoint->done : 0;
  task.running = true;
  task.wanted = false;
}

double Preemption::done(const Task& task, Instant now) {
  if (task.run.seconds <= 0) return task.done_known;
  return std::clamp(task.done_known + std::max(seconds(now - task.known), 0.0) / task.run.seconds, 0.0, 1.0);
}

Preempt Preemption::stop(const TaskId& id, Task& task, Instant now) {
  Preempt made{.victim = id, .worker = task.worker, .from = task.checkpoint, .lost = 0};
  made.lost = done(task, now) - (task.checkpoint ? task.checkpoint->done : 0);
  task.lost += made.lost;
  ++task.preemptions;
  task.running = false;
  task.wanted = false;
  return made;
}

std::optional<Preempt> Preemption::checkpointed(const TaskId& id, const PublicKey& worker, const Checkpoint& checkpoint, Instant now) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || !found->second.running || found->second.worker != worker) return {};
  Task& task = found->second;
  const bool can_be = std::isfinite(checkpoint.done) && checkpoint.done >= 0 && checkpoint.done <= 1;
  if (!can_be || (task.checkpoint && checkpoint.done < task.checkpoint->done)) return {};
  task.checkpoint = checkpoint;
  task.known = now;  // From here on it is as far as it says, whatever was predicted.
  task.done_known = checkpoint.done;
  if (!task.wanted) return {};
  return stop(id, task, now);
}

bool Preemption::may_stop(const TaskId& id, const Task& task, const Urgent& urgent, Instant now) const {
  if (!task.running || task.wanted) return false;
  const double guarded = seconds(settings_.run_min) * std::exp2(std::min(task.preemptions, 60U));
  if (seconds(now - task.began) < guarded) return false;
  if (task.run.score + task.preemptions * settings_.advantage_min / 2 + settings_.advantage_min > urgent.score) return false;
  const double left = (1 - done(task, now)) * task.run.seconds;
  return left > seconds(settings_.rest_min) && (!urgent.fits || urgent.fits(task.worker, id));
}

Preemption::Way Preemption::make_way(const Urgent& urgent, Instant now) {
  if (urgent.starts_in <= settings_.rest_min) return {};
  const TaskId* best_id = nullptr;
  Task* best = nullptr;
  double best_loss = 0;
  for (auto& [id, task] : tasks_) {
    if (!may_stop(id, task, urgent, now)) continue;
    const double loss = done(task, now) - (task.checkpoint ? task.checkpoint->done : 0);
    if (best != nullptr && std::pair(task.run.score, loss) >= std::pair(best->run.score, best_loss)) continue;
    best_id = &id;
    best = &task;
    best_loss = loss;
  }
  if (best == nullptr) return {};
  if (best->lost + best_loss <= settings_.lost_max) return {.now = stop(*best_id, *best, now), .later = {}};
  best->wanted = true;
  return {.now = {}, .later = AtCheckpoint{.victim = *best_id, .worker = best->worker}};
}

void Preemption::lost(const TaskId& id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  found->second.running = false;
  found->second.wanted = false;
}

void Preemption::ended(const TaskId& id) { tasks_.erase(id); }

std::optional<Checkpoint> Preemption::resume_from(const TaskId& id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? std::nullopt : found->second.checkpoint;
}

std::uint32_t Preemption::preemptions(const TaskId& id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? 0 : found->second.preemptions;
}

double Preemption::lost_so_far(const TaskId& id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? 0 : found->second.lost;
}

}  // namespace weft::scheduler
