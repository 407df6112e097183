#include "decisions/scheduler/leases.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/check.h"

namespace weft::scheduler {

void Leases::give(WorkerState& worker, JobState& job, std::uint32_t index, std::uint32_t attempt,
                  Instant now) {
  TaskState& task = job.touch(index);
  task.replicas.push_back({.worker = worker.info.key,
                           .attempt = attempt,
                           .state = ReplicaState::leased,
                           .measured = {},
                           .newcomer = worker.newcomer()});
  task.next_attempt = std::max(task.next_attempt, attempt + 1);
  if (!task.missing()) {
    job.close(task);
  } else if (task.open_sequence == 0) {
    job.reopen(index, task);
  }
  ++job.leases;
  tables_.resume_reservations.release(job.task_id(index), worker.info.key);
  if (job.canary == CanaryState::waiting) {
    job.canary = CanaryState::leased;
    job.canary_index = index;
  }
  const double predicted = parts_.prospects.predicted_seconds(worker, job, index);
  const double charged = job.pace_usual * job.range_count(index);
  const double usual = job.pace > 0 ? predicted * job.pace_usual / job.pace : 0;
  if (worker.running.empty()) {
    worker.head_since = now;
    worker.heard = std::max(worker.heard, now);  // Heartbeats are due from now on.
  }
  worker.running.push_back({.job = &job,
                            .index = index,
                            .attempt = attempt,
                            .seconds = predicted,
                            .usual = usual,
                            .since = now,
                            .charged = charged,
                            .look_again = now,
                            .newcomer = worker.newcomer()});
  if (worker.newcomer()) {
    ++job.newcomer_tries;
    job.prefix_leases.add(worker.info.prefix, 1);
    parts_.samples.leased(worker, job, index);
  }
  worker.load_seconds += usual;
  parts_.long_runs.watch(worker, job, index, predicted, now);
  parts_.promises.withdraw(job);  // The job no longer needs its promise of room.
  if (worker.promised != nullptr && job.rank < worker.promised->rank)
    parts_.promises.renew(worker, now);
  parts_.listings.list(job);
  parts_.listings.list(worker);
  parts_.charges.charge(job, charged, now);
}

void Leases::report(WorkerState& worker, std::vector<Holding>::iterator running, double charged,
                    Instant now) {
  JobState& job = *running->job;
  Holding reported = *running;
  reported.since = now;
  reported.charged = charged;
  parts_.long_runs.done(job, reported.index, worker.info.key);
  parts_.charges.charge(job, reported.charged - running->charged, now);
  worker.load_seconds -= running->usual;
  worker.running.erase(running);
  if (worker.running.empty()) worker.load_seconds = 0;
  worker.head_since = now;  // The next task begins to run now at the latest.
  if (worker.sliced() && !worker.running.empty()) worker.head_since = worker.running.front().since;
  await_receipt(worker, reported);
}

void Leases::await_receipt(WorkerState& worker, const Holding& reported) {
  worker.reported.insert(
      std::ranges::upper_bound(worker.reported, reported.since, {}, &Holding::since), reported);
}

void Leases::release(WorkerState& worker, JobState& job, std::uint32_t index, Instant now) {
  const auto is_it = [&](const Holding& holding) {
    return holding.job == &job && holding.index == index;
  };
  const auto count_out = [&](const Holding& holding) {
    if (!holding.newcomer) return;
    job.prefix_leases.add(worker.info.prefix, -1);
    tables_.agenda.mark(job);  // Another newcomer of the prefix may get a task of the job.
  };
  if (const auto running = std::ranges::find_if(worker.running, is_it);
      running != worker.running.end()) {
    count_out(*running);
    worker.load_seconds -= running->usual;
    if (running == worker.running.begin()) worker.head_since = now;
    worker.running.erase(running);
    if (worker.sliced() && !worker.running.empty())
      worker.head_since = worker.running.front().since;
    // Without tasks the load is set to exactly 0, because differences of sums have rounding errors.
    if (worker.running.empty()) worker.load_seconds = 0;
  } else {
    const auto reported = std::ranges::find_if(worker.reported, is_it);
    check(reported != worker.reported.end(), "a lease is held by its worker");
    count_out(*reported);
    worker.reported.erase(reported);
  }
  --job.leases;
  parts_.listings.list(worker);
  tables_.agenda.mark(worker);
}

void Leases::give_try_back(JobState& job) {
  --job.newcomer_tries;
  tables_.agenda.mark(job);
}

void Leases::bar_for_a_while(const WorkerState& worker, JobState& job, std::uint32_t index,
                             Blame kind, Instant now) {
  TaskState& task = job.tasks.at(index);
  const Instant retry_at = now + (kind == Blame::forgery ? tables_.settings.retry_forger_after
                                  : kind == Blame::unable || kind == Blame::signed_before
                                      ? tables_.settings.retry_unable_after
                                      : tables_.settings.retry_same_after);
  std::erase_if(task.failures,
                [&](const FailureOn& failure) { return failure.worker == worker.info.key; });
  task.failures.push_back({.worker = worker.info.key, .retry_at = retry_at});
  tables_.deadlines.retries.set(retry_at, job.task_id(index));
}

bool Leases::lose(WorkerState& worker, JobState& job, std::uint32_t index, Blame kind,
                  const Error& why, Instant now) {
  TaskState& task = job.tasks.at(index);
  const ReplicaOf replica = *task.replica_of(worker.info.key);
  const bool canary = job.canary == CanaryState::leased && job.canary_index == index;
  const auto is_it = [&](const Holding& each) { return each.job == &job && each.index == index; };
  const auto running = std::ranges::find_if(worker.running, is_it);
  parts_.charges.charge(
      job,
      -(running != worker.running.end() ? *running : *std::ranges::find_if(worker.reported, is_it))
           .charged,
      now);
  release(worker, job, index, now);
  tables_.samples.remove(job.task_id(index), worker.info.key);
  parts_.long_runs.lost(job, index, worker.info.key);
  // One replica of a pair has ended, so that the remaining one is no longer a copy.
  if (task.copies > 0) parts_.copies.drop(job, task, 1);
  std::erase_if(task.replicas,
                [&](const ReplicaOf& each) { return each.worker == worker.info.key; });
  if (canary) job.canary = CanaryState::waiting;
  tables_.out.push_back(LeaseLost{.task = job.task_id(index),
                                  .worker = worker.info.key,
                                  .attempt = replica.attempt,
                                  .reason = why.message});

  // Until the canary has passed, only the canary and scouts are leased. The loss of a scout counts
  // like that of the canary.
  if (auto reason = parts_.blame.note(
          job, task, worker,
          {.index = index, .kind = kind, .canary = job.canary != CanaryState::passed}, why)) {
    end_job(job, std::move(*reason), now);
    return false;
  }
  if (worker.newcomer() && kind != Blame::ours && tables_.settings.safeguards.lost_goes_to_trusted)
    task.for_trusted = true;
  if (replica.newcomer && (kind == Blame::ours || !tables_.settings.safeguards.tries_are_spent))
    give_try_back(job);
  if (kind != Blame::none && kind != Blame::ours) bar_for_a_while(worker, job, index, kind, now);
  job.reopen(index, task);
  parts_.listings.list(job);
  tables_.agenda.mark(job);
  return true;
}

void Leases::lose_all(WorkerState& worker, Blame head, const Error& why, Instant now) {
  while (!worker.running.empty()) {
    const Holding holding = worker.running.front();
    lose(worker, *holding.job, holding.index, std::exchange(head, Blame::none), why, now);
  }
  while (!worker.reported.empty()) {
    const Holding holding = worker.reported.front();
    lose(worker, *holding.job, holding.index, Blame::none, why, now);
  }
}

void Leases::cancel(JobState& job, std::string_view reason, Instant now) {
  std::map<std::uint64_t, Cancel> cancels;  // Cancels in the workers' order of arrival.
  for (auto& [index, task] : job.tasks) {
    for (const ReplicaOf& replica : task.replicas) {
      if (replica.state == ReplicaState::counted) continue;
      WorkerState& worker = tables_.workers.at(replica.worker);
      release(worker, job, index, now);
      if (worker.gone || replica.state == ReplicaState::reported) continue;
      Cancel& cancel = cancels[worker.sequence];
      cancel.worker = replica.worker;
      cancel.tasks.push_back({.task = job.task_id(index), .attempt = replica.attempt});
    }
  }
  for (auto& [sequence, cancel] : cancels) {
    cancel.reason = reason;
    tables_.out.push_back(std::move(cancel));
  }
}

void Leases::end_job(JobState& job, Error reason, Instant now) {
  const JobId id = job.spec.id;
  cancel(job, reason.message, now);
  parts_.removal.erase(job);
  tables_.out.push_back(JobFailed{.job = id, .reason = std::move(reason)});
}

}  // namespace weft::scheduler
