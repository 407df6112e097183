#include "decisions/scheduler/making_way.h"

#include <algorithm>

namespace weft::scheduler {
namespace {

constexpr auto way_look_every = std::chrono::milliseconds(250);

}  // namespace

void MakingWay::look(Instant now) {
  if (tables_.preemption.empty()) return look_at_.reset();
  if (look_at_ && now < *look_at_) return;
  look_at_.reset();
  for (const auto& [key, each] : tables_.classes.all()) {
    for (const auto phase :
         // A scout takes no other run's place.
         {RequirementClass::canary, RequirementClass::open}) {
      if (each->needing[phase].empty()) continue;
      look_at_ = now + way_look_every;
      find_place(*each->needing[phase].begin()->second, phase, now);
    }
  }
}

void MakingWay::find_place(JobState& urgent, RequirementClass::Phase phase, Instant now) {
  if (!tables_.preemption.has_victim(urgent.score, now)) return;
  const std::size_t asked = tables_.preemption_requests.count_for(urgent.spec.id);
  const std::size_t waiting = phase == RequirementClass::canary
                                  ? 1
                                  : urgent.open.size() + (urgent.spec.tasks - urgent.fresh);
  if (asked >= waiting) return;
  const bool native_only = phase == RequirementClass::canary &&
                           urgent.spec.kind == manifest::Kind::wgsl &&
                           urgent.able(static_cast<std::size_t>(protocol::WorkerKind::native)) > 0;
  const auto fits = [&](const PublicKey& at, const TaskId& victim) {
    const WorkerState* const worker = tables_.workers.find(at);
    const JobState* const other = tables_.jobs.find(victim.job);
    if (worker == nullptr || other == nullptr || worker->info.slots == 0 ||
        (native_only && !worker->native()))
      return false;
    // The victim must have a checkpoint, and must come after the urgent job in the queue: otherwise
    // it would be leased again first.
    if (!tables_.preemption.resume_from(LongRuns::run_of(*other, victim.index, at)) ||
        !(urgent.rank < other->rank))
      return false;
    return std::ranges::contains(worker->classes, urgent.requirements) &&
           parts_.choice.task_for(*worker, urgent, now).has_value();
  };
  const auto way = tables_.preemption.make_way(
      {.score = urgent.score, .starts_in = parts_.prospects.starts_in(urgent, now), .fits = fits},
      now);
  if (way.now) {
    stop(tables_.workers.at(way.now->worker), tables_.jobs.at(way.now->victim.job),
         way.now->victim.index, now);
  } else if (way.later) {
    const TaskId& victim = way.later->victim;
    const ReplicaOf* const replica = tables_.jobs.find_task(victim)->replica_of(way.later->worker);
    if (replica == nullptr) return;
    tables_.preemption_requests.add(victim, way.later->worker, urgent.spec.id);
    tables_.out.push_back(
        Yield{.worker = way.later->worker, .task = {.task = victim, .attempt = replica->attempt}});
  }
}

void MakingWay::stop(WorkerState& worker, JobState& job, std::uint32_t index, Instant now) {
  const TaskId task = job.task_id(index);
  const ReplicaOf* const replica = tables_.jobs.find_task(task)->replica_of(worker.info.key);
  if (replica == nullptr) return;
  ++made_;
  const auto holding = std::ranges::find_if(
      worker.running, [&](const Holding& each) { return each.job == &job && each.index == index; });
  const auto from = tables_.preemption.resume_from(LongRuns::run_of(job, index, worker.info.key));
  const double done = from && holding != worker.running.end() ? from->done * holding->seconds : 0;
  tables_.out.push_back(Cancel{.worker = worker.info.key,
                               .tasks = {{.task = task, .attempt = replica->attempt}},
                               .reason = "The task makes way for a more urgent one."});
  parts_.leases.lose(worker, job, index, Blame::ours,
                     {ErrorCode::cancelled, "The task made way for a more urgent one."}, now);
  parts_.long_runs.reserve(worker, job, index, done, now);
}

void MakingWay::time_canary(WorkerState& worker, JobState& job, Holding& holding,
                            const TaskCheckpoint& checkpoint, Instant now) {
  const auto before = tables_.preemption.resume_from(
      LongRuns::run_of(job, checkpoint.task.index, checkpoint.worker));
  const double here = std::max(checkpoint.done - (before ? before->done : 0), 1e-3);
  const Instant began =
      worker.sliced() ? holding.since : std::max(holding.since, worker.head_since);
  const double whole = seconds(now - began) / here;
  holding.seconds = whole;
  holding.usual = whole;
  worker.load_seconds += whole;
  parts_.listings.list(worker);
  parts_.long_runs.watch(worker, job, checkpoint.task.index, whole, holding.since);
}

Result<> MakingWay::checkpointed(const TaskCheckpoint& checkpoint, Instant now) {
  tables_.reach(now);
  WorkerState* const worker = tables_.workers.find(checkpoint.worker);
  TaskState* const task = tables_.jobs.find_task(checkpoint.task);
  const ReplicaOf* const replica = task == nullptr ? nullptr : task->replica_of(checkpoint.worker);
  if (worker == nullptr || replica == nullptr || replica->attempt != checkpoint.attempt ||
      replica->state != ReplicaState::leased) {
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.",
                checkpoint.attempt, checkpoint.task.text());
  }
  worker->heard = std::max(worker->heard, now);
  JobState& job = tables_.jobs.at(checkpoint.task.job);
  const auto holding = std::ranges::find_if(worker->running, [&](const Holding& each) {
    return each.job == &job && each.index == checkpoint.task.index;
  });
  if (holding->seconds <= 0 && checkpoint.done > 0)
    time_canary(*worker, job, *holding, checkpoint, now);
  const auto stopped = tables_.preemption.checkpointed(
      LongRuns::run_of(job, checkpoint.task.index, checkpoint.worker), checkpoint.worker,
      {.blob = {}, .done = checkpoint.done}, now);
  if (!stopped && !checkpoint.stopped) return {};
  if (stopped) ++made_;
  if (!checkpoint.stopped) {
    tables_.out.push_back(
        Cancel{.worker = checkpoint.worker,
               .tasks = {{.task = checkpoint.task, .attempt = checkpoint.attempt}},
               .reason = "The task makes way for a more urgent one."});
  }
  const double done = checkpoint.done * holding->seconds;
  parts_.leases.lose(*worker, job, checkpoint.task.index, stopped ? Blame::ours : Blame::none,
                     {ErrorCode::cancelled, "The task stopped at a checkpoint."}, now);
  parts_.long_runs.reserve(*worker, job, checkpoint.task.index, done, now);
  return {};
}

}  // namespace weft::scheduler
