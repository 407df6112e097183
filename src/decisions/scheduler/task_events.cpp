#include "decisions/scheduler/task_events.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace weft::scheduler {

Measurement TaskEvents::measured(const WorkerState& worker, const Holding& holding,
                                 const TaskResult& result, Instant now) const {
  const bool is_head = &holding == &worker.running.front();
  const Instant began = is_head && !worker.sliced() ? worker.head_since : holding.since;
  const double own = 1 - std::clamp(std::isfinite(result.resumed) ? result.resumed : 0, 0.0, 1.0);
  const auto computed = static_cast<std::uint32_t>(
      std::max(1.0, std::round(own * holding.job->range_count(result.task.index))));
  return {.workgroups = computed,
          .gpu_seconds = parts_.members.says(worker.info.standing) ? result.gpu_seconds : 0,
          .elapsed_seconds = seconds(now - began),
          .rate = worker.rate_said};
}

Result<> TaskEvents::result(const TaskResult& result, Instant now) {
  tables_.reach(now);
  WorkerState* worker = tables_.workers.find(result.worker);
  TaskState* task = tables_.jobs.find_task(result.task);
  ReplicaOf* replica = task == nullptr ? nullptr : task->replica_of(result.worker);
  if (worker == nullptr || replica == nullptr || replica->attempt != result.attempt ||
      replica->state != ReplicaState::leased) {
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.",
                result.attempt, result.task.text());
  }
  JobState& job = tables_.jobs.at(result.task.job);
  const auto holding = std::ranges::find_if(worker->running, [&](const Holding& each) {
    return each.job == &job && each.index == result.task.index;
  });
  check(holding != worker->running.end(), "a leased replica is held by its worker");
  const Measurement measurement = measured(*worker, *holding, result, now);

  replica->state = ReplicaState::reported;
  parts_.leases.report(*worker, holding,
                       reference_seconds_per_workgroup(measurement) * measurement.workgroups, now);
  worker->heard = std::max(worker->heard, now);
  worker->expiries = 0;

  if (job.canary != CanaryState::passed) {  // The first result serves as the canary's.
    if (!parts_.canaries.pass(job, measurement, worker, now)) return {};
  } else if (!parts_.members.says(worker->info.standing)) {
    replica->measured = measurement;  // The measurement counts once the result is accepted.
  } else {
    parts_.rates.learn(*worker, job, measurement);
  }
  parts_.listings.list(*worker);
  tables_.agenda.mark(*worker);
  return {};
}

void TaskEvents::awaits_receipt_from(const TaskId& id, const PublicKey& key, Instant then) {
  WorkerState* worker = tables_.workers.find(key);
  const JobState* job = tables_.jobs.find(id.job);
  if (worker == nullptr || job == nullptr) return;
  const auto reported = std::ranges::find_if(worker->reported, [&](const Holding& each) {
    return each.job == job && each.index == id.index;
  });
  if (reported == worker->reported.end()) return;
  Holding moved = *reported;
  worker->reported.erase(reported);
  moved.since = then;
  Leases::await_receipt(*worker, moved);
  parts_.listings.list(*worker);
}

void TaskEvents::counted(const TaskId& id, const PublicKey& key) {
  JobState* job = tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->settled[id.index]) return;
  TaskState& task = job->touch(id.index);
  ReplicaOf* replica = task.replica_of(key);
  if (replica != nullptr && replica->state == ReplicaState::counted) return;
  if (replica == nullptr) {
    task.replicas.push_back({.worker = key, .attempt = 0, .state = ReplicaState::counted});
    job->reopen(id.index, task);
  } else {
    replica->state = ReplicaState::counted;
    if (replica->newcomer && !tables_.settings.safeguards.tries_are_spent)
      parts_.leases.give_try_back(*job);
    parts_.leases.release(tables_.workers.at(key), *job, id.index, tables_.latest);
  }
  parts_.listings.list(*job);
}

Result<> TaskEvents::failed(const TaskId& id, const PublicKey& key, std::uint32_t attempt,
                            const Error& error, Instant now) {
  tables_.reach(now);
  WorkerState* worker = tables_.workers.find(key);
  TaskState* task = tables_.jobs.find_task(id);
  const ReplicaOf* replica = task == nullptr ? nullptr : task->replica_of(key);
  if (worker == nullptr || replica == nullptr || replica->attempt != attempt ||
      replica->state == ReplicaState::counted) {
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.", attempt,
                id.text());
  }
  worker->heard = std::max(worker->heard, now);
  worker->expiries = 0;
  parts_.leases.lose(*worker, tables_.jobs.at(id.job), id.index, blame_for(error.code), error, now);
  return {};
}

void TaskEvents::learn_from(JobState& job, TaskState& task, std::span<const PublicKey> by) {
  for (const PublicKey& right : by) {
    const ReplicaOf* replica = task.replica_of(right);
    WorkerState* worker = tables_.workers.find(right);
    if (replica != nullptr && worker != nullptr && replica->measured)
      parts_.rates.learn(*worker, job, *replica->measured);
  }
}

void TaskEvents::end_replicas(JobState& job, TaskState& task, const TaskId& id,
                              std::span<const PublicKey> by) {
  for (const ReplicaOf& replica : task.replicas) {
    tables_.samples.decide(id, replica.worker);
    const bool accepted = std::ranges::contains(by, replica.worker);
    const bool counted = replica.state == ReplicaState::counted;
    if (replica.newcomer && (!counted || (accepted && tables_.settings.safeguards.tries_are_spent)))
      parts_.leases.give_try_back(job);
    if (counted) continue;
    parts_.leases.release(tables_.workers.at(replica.worker), job, id.index, tables_.latest);
    if (replica.state == ReplicaState::reported) continue;
    tables_.out.push_back(Cancel{.worker = replica.worker,
                                 .tasks = {{.task = id, .attempt = replica.attempt}},
                                 .reason = "The task is settled."});
  }
}

void TaskEvents::settled(const TaskId& id, std::span<const PublicKey> by) {
  JobState* job = tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->settled[id.index]) return;
  const auto task = job->tasks.find(id.index);
  if (task != job->tasks.end()) learn_from(*job, task->second, by);
  job->settled[id.index] = true;
  ++job->settled_count;
  if (task != job->tasks.end()) {
    end_replicas(*job, task->second, id, by);
    parts_.long_runs.forget(id);
    parts_.copies.drop(*job, task->second, task->second.copies);
    job->close(task->second);
    job->tasks.erase(task);
  }
  if (job->canary != CanaryState::passed && job->canary_index == id.index) {
    job->canary = CanaryState::waiting;
    job->canary_index.reset();
  }
  parts_.listings.list(*job);
  tables_.agenda.mark(*job);
}

void TaskEvents::bar(const TaskId& id, const PublicKey& worker, Barred from) {
  JobState* job = tables_.jobs.find(id.job);
  if (job == nullptr) return;
  if (from == Barred::job && !std::ranges::contains(job->barred, worker))
    job->barred.push_back(worker);
  const auto task = job->tasks.find(id.index);
  if (task == job->tasks.end() || !tables_.settings.safeguards.lost_goes_to_trusted) return;
  const ReplicaOf* replica = task->second.replica_of(worker);
  if (replica != nullptr && replica->newcomer) task->second.for_trusted = true;
}

void TaskEvents::want_replicas(const TaskId& id, std::uint32_t replicas) {
  JobState* job = tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->settled[id.index]) return;
  TaskState& task = job->touch(id.index);
  if (task.wanted >= replicas) return;
  task.wanted = replicas;
  job->reopen(id.index, task);
  tables_.deadlines.starving.set(tables_.latest + tables_.settings.starved_after, id);
  parts_.listings.list(*job);
  tables_.agenda.mark(*job);
}

}  // namespace weft::scheduler
