// Places for urgent tasks: which run makes way, and when. See preemption.h for which runs
// may.
#include <algorithm>
#include <cmath>

#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr auto scan_every = std::chrono::milliseconds(250);

}  // namespace

// The job that is first in the queue of its class waits because no worker that could take it is
// free: match() has just looked.
void Scheduler::State::make_way(Instant now) {
  if (tables_.preemption.empty()) return preemption_scan_at.reset();
  if (preemption_scan_at && now < *preemption_scan_at) return;
  preemption_scan_at.reset();
  for (auto& [key, each] : tables_.classes.all()) {
    for (const auto phase :
         {RequirementClass::canary, RequirementClass::open}) {  // No run makes way for a scout.
      if (each->needing[phase].empty()) continue;
      JobState& urgent = *each->needing[phase].begin()->second;
      preemption_scan_at = now + scan_every;
      if (!tables_.preemption.has_victim(urgent.score, now)) continue;
      const std::size_t asked = tables_.preemption_requests.count_for(urgent.spec.id);
      const std::size_t waiting = phase == RequirementClass::canary
                                      ? 1
                                      : urgent.open.size() + (urgent.spec.tasks - urgent.fresh);
      if (asked >= waiting) continue;
      const bool native_only =
          phase == RequirementClass::canary && urgent.spec.kind == manifest::Kind::wgsl &&
          urgent.able(static_cast<std::size_t>(protocol::WorkerKind::native)) > 0;
      const auto fits = [&](const PublicKey& at, const TaskId& victim) {
        const WorkerState* const worker = tables_.workers.find(at);
        const JobState* const other = tables_.jobs.find(victim.job);
        if (worker == nullptr || other == nullptr || worker->info.slots == 0 ||
            (native_only && !worker->native()))
          return false;
        // It must have left something behind, and not come first again once it has made way.
        if (!tables_.preemption.resume_from(LongRuns::run_of(*other, victim.index, at)) ||
            !(urgent.rank < other->rank))
          return false;
        return std::ranges::contains(worker->classes, urgent.requirements) &&
               choice_.task_for(*worker, urgent, now).has_value();
      };
      const auto way = tables_.preemption.make_way(
          {.score = urgent.score, .starts_in = prospects_.starts_in(urgent, now), .fits = fits},
          now);
      if (way.now) {
        stop(*tables_.workers.find(way.now->worker), *tables_.jobs.find(way.now->victim.job),
             way.now->victim.index, now);
      } else if (way.later) {
        const JobState& job = *tables_.jobs.find(way.later->victim.job);
        const ReplicaOf* const replica =
            tables_.jobs.find_task(way.later->victim)->replica_of(way.later->worker);
        if (replica == nullptr) continue;
        tables_.preemption_requests.add(way.later->victim, way.later->worker, urgent.spec.id);
        tables_.out.push_back(Yield{
            .worker = way.later->worker,
            .task = {.task = job.task_id(way.later->victim.index), .attempt = replica->attempt}});
      }
    }
  }
}

// Its lease ends now; what it has done since its last checkpoint is done again.
void Scheduler::State::stop(WorkerState& worker, JobState& job, std::uint32_t index, Instant now) {
  const TaskId task = job.task_id(index);
  const ReplicaOf* const replica = tables_.jobs.find_task(task)->replica_of(worker.info.key);
  if (replica == nullptr) return;
  ++preemptions;
  const auto holding = std::ranges::find_if(
      worker.running, [&](const Holding& each) { return each.job == &job && each.index == index; });
  const auto from = tables_.preemption.resume_from(LongRuns::run_of(job, index, worker.info.key));
  const double done = from && holding != worker.running.end() ? from->done * holding->seconds : 0;
  tables_.out.push_back(Cancel{.worker = worker.info.key,
                               .tasks = {{.task = task, .attempt = replica->attempt}},
                               .reason = "It makes way for a more urgent task."});
  leases_.lose(worker, job, index, Blame::ours,
               {ErrorCode::cancelled, "It made way for a more urgent task."}, now);
  long_runs_.reserve(worker, job, index, done, now);
}

Result<> Scheduler::checkpointed(const TaskCheckpoint& checkpoint, Instant now) {
  State& state = *state_;
  state.tables_.reach(now);
  WorkerState* const worker = state.tables_.workers.find(checkpoint.worker);
  TaskState* const task = state.tables_.jobs.find_task(checkpoint.task);
  const ReplicaOf* const replica = task == nullptr ? nullptr : task->replica_of(checkpoint.worker);
  if (worker == nullptr || replica == nullptr || replica->attempt != checkpoint.attempt ||
      replica->state != ReplicaState::leased) {
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.",
                checkpoint.attempt, checkpoint.task.text());
  }
  worker->heard = std::max(worker->heard, now);
  JobState& job = *state.tables_.jobs.find(checkpoint.task.job);
  const auto holding = std::ranges::find_if(worker->running, [&](const Holding& each) {
    return each.job == &job && each.index == checkpoint.task.index;
  });
  const RunId run = LongRuns::run_of(job, checkpoint.task.index, checkpoint.worker);
  if (holding->seconds <= 0 && checkpoint.done > 0) {
    // A canary: now its length is known, and no task should wait for it.
    const auto before = state.tables_.preemption.resume_from(run);
    const double here = std::max(checkpoint.done - (before ? before->done : 0), 1e-3);
    const double whole =
        seconds(now - (worker->sliced() ? holding->since
                                        : std::max(holding->since, worker->head_since))) /
        here;
    holding->seconds = whole;
    holding->usual = whole;
    worker->load_seconds += whole;
    state.listings_.list(*worker);
    state.long_runs_.watch(*worker, job, checkpoint.task.index, whole, holding->since);
  }
  const auto stopped = state.tables_.preemption.checkpointed(
      run, checkpoint.worker, {.blob = {}, .done = checkpoint.done}, now);
  if (!stopped && !checkpoint.stopped) return {};
  if (stopped) ++state.preemptions;
  if (!checkpoint.stopped) {
    state.tables_.out.push_back(
        Cancel{.worker = checkpoint.worker,
               .tasks = {{.task = checkpoint.task, .attempt = checkpoint.attempt}},
               .reason = "It makes way for a more urgent task."});
  }
  const double done = checkpoint.done * holding->seconds;
  state.leases_.lose(*worker, job, checkpoint.task.index, stopped ? Blame::ours : Blame::none,
                     {ErrorCode::cancelled, "It stopped at a checkpoint."}, now);
  state.long_runs_.reserve(*worker, job, checkpoint.task.index, done, now);
  return {};
}

}  // namespace weft::scheduler
