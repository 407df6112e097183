#include "decisions/scheduler/preemption.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

void Preemption::began(const RunId& id, const PublicKey& worker, const Run& run, Instant now) {
  State& state = runs_[id];
  state.worker = worker;
  state.run = run;
  state.began = now;
  state.known = now;
  state.done_known = state.checkpoint ? state.checkpoint->done : 0;
  state.running = true;
  state.wanted = false;
}

double Preemption::done_by(const State& state, Instant now) {
  if (state.run.seconds <= 0) return state.done_known;
  return std::clamp(
      state.done_known + std::max(seconds(now - state.known), 0.0) / state.run.seconds, 0.0, 1.0);
}

Preempt Preemption::stop(const RunId& id, State& state, Instant now) {
  Preempt made{.victim = id.task, .worker = state.worker, .from = state.checkpoint, .lost = 0};
  made.lost = done_by(state, now) - (state.checkpoint ? state.checkpoint->done : 0);
  state.lost += made.lost;
  ++state.preemptions;
  state.running = false;
  state.wanted = false;
  return made;
}

std::optional<Preempt> Preemption::checkpointed(const RunId& id, const PublicKey& worker,
                                                const Checkpoint& checkpoint, Instant now) {
  const auto found = runs_.find(id);
  if (found == runs_.end() || !found->second.running || found->second.worker != worker) return {};
  State& state = found->second;
  const bool can_be =
      std::isfinite(checkpoint.done) && checkpoint.done >= 0 && checkpoint.done <= 1;
  if (!can_be || (state.checkpoint && checkpoint.done < state.checkpoint->done)) return {};
  state.checkpoint = checkpoint;
  state.known = now;  // Predictions begin with this checkpoint.
  state.done_known = checkpoint.done;
  if (!state.wanted) return {};
  return stop(id, state, now);
}

bool Preemption::may_stop(const RunId& id, const State& state, const Urgent& urgent,
                          Instant now) const {
  if (!state.running || state.wanted) return false;
  const double guarded = seconds(settings_.run_min) * std::exp2(std::min(state.preemptions, 60U));
  if (seconds(now - state.began) < guarded) return false;
  if (state.run.score + state.preemptions * settings_.advantage_min / 2 + settings_.advantage_min >
      urgent.score)
    return false;
  const double left = (1 - done_by(state, now)) * state.run.seconds;
  return left > seconds(settings_.rest_min) && (!urgent.fits || urgent.fits(state.worker, id.task));
}

bool Preemption::has_victim(double score, Instant now) const {
  const Urgent anywhere{.score = score, .starts_in = Duration::max(), .fits = {}};
  return std::ranges::any_of(
      runs_, [&](const auto& each) { return may_stop(each.first, each.second, anywhere, now); });
}

Preemption::Way Preemption::make_way(const Urgent& urgent, Instant now) {
  if (urgent.starts_in <= settings_.rest_min) return {};
  const RunId* best_id = nullptr;
  State* best = nullptr;
  double best_loss = 0;
  for (auto& [id, state] : runs_) {
    if (!may_stop(id, state, urgent, now)) continue;
    const double loss = done_by(state, now) - (state.checkpoint ? state.checkpoint->done : 0);
    if (best != nullptr &&
        std::pair(state.run.score, loss) >= std::pair(best->run.score, best_loss))
      continue;
    best_id = &id;
    best = &state;
    best_loss = loss;
  }
  if (best == nullptr) return {};
  if (best->lost + best_loss <= settings_.lost_max)
    return {.now = stop(*best_id, *best, now), .later = {}};
  best->wanted = true;
  return {.now = {}, .later = AtCheckpoint{.victim = best_id->task, .worker = best->worker}};
}

void Preemption::lost(const RunId& id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  found->second.running = false;
  found->second.wanted = false;
}

void Preemption::done(const RunId& id) { runs_.erase(id); }

void Preemption::ended(const TaskId& task) {
  auto first = runs_.lower_bound(task);
  while (first != runs_.end() && first->first.task == task) first = runs_.erase(first);
}

std::optional<Checkpoint> Preemption::resume_from(const RunId& id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? std::nullopt : found->second.checkpoint;
}

std::uint32_t Preemption::preemptions(const RunId& id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? 0 : found->second.preemptions;
}

double Preemption::lost_so_far(const RunId& id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? 0 : found->second.lost;
}

}  // namespace weft::scheduler
