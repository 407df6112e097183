// What a worker holds, and how that ends.
#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/base/format.h"
#include "decisions/scheduler/measured_work.h"
#include "decisions/scheduler/state.h"

namespace weft::scheduler {

void Scheduler::State::lease(WorkerState& worker, JobState& job, std::uint32_t index,
                             std::uint32_t attempt, Instant now) {
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
  const double predicted = prospects_.predicted_seconds(worker, job, index);
  const double charged = job.pace_usual * job.range_count(index);
  const double usual = job.pace > 0 ? predicted * job.pace_usual / job.pace : 0;
  if (worker.running.empty()) {
    worker.head_since = now;
    worker.heard = std::max(worker.heard, now);  // It is asked to beat from here on.
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
    samples_.leased(worker, job, index);
  }
  worker.load_seconds += usual;
  long_runs_.watch(worker, job, index, predicted, now);
  promises_.withdraw(job);  // It has what it waited for.
  if (worker.promised != nullptr && job.rank < worker.promised->rank) promises_.renew(worker, now);
  listings_.list(job);
  listings_.list(worker);
  charges_.charge(job, charged, now);
}

void Scheduler::State::await_receipt(WorkerState& worker, const Holding& reported) {
  worker.reported.insert(
      std::ranges::upper_bound(worker.reported, reported.since, {}, &Holding::since), reported);
}

void Scheduler::State::unhold(WorkerState& worker, JobState& job, std::uint32_t index,
                              Instant now) {
  const auto is_it = [&](const Holding& holding) {
    return holding.job == &job && holding.index == index;
  };
  const auto count_out = [&](const Holding& holding) {
    if (!holding.newcomer) return;
    job.prefix_leases.add(worker.info.prefix, -1);
    tables_.agenda.mark(job);  // Another newcomer of the prefix may take something of it.
  };
  if (const auto running = std::ranges::find_if(worker.running, is_it);
      running != worker.running.end()) {
    count_out(*running);
    worker.load_seconds -= running->usual;
    if (running == worker.running.begin()) worker.head_since = now;
    worker.running.erase(running);
    if (worker.sliced() && !worker.running.empty())
      worker.head_since = worker.running.front().since;
    if (worker.running.empty()) worker.load_seconds = 0;  // No rounding is carried on.
  } else {
    const auto reported = std::ranges::find_if(worker.reported, is_it);
    check(reported != worker.reported.end(), "a lease is held by its worker");
    count_out(*reported);
    worker.reported.erase(reported);
  }
  --job.leases;
  listings_.list(worker);
  tables_.agenda.mark(worker);
}

void Scheduler::State::give_try_back(JobState& job) {
  --job.newcomer_tries;
  tables_.agenda.mark(job);
}

bool Scheduler::State::lose(WorkerState& worker, JobState& job, std::uint32_t index, Blame kind,
                            const Error& why, Instant now) {
  TaskState& task = job.tasks.at(index);
  const ReplicaOf replica = *task.replica_of(worker.info.key);
  const bool canary = job.canary == CanaryState::leased && job.canary_index == index;
  const auto is_it = [&](const Holding& each) { return each.job == &job && each.index == index; };
  const auto running = std::ranges::find_if(worker.running, is_it);
  charges_.charge(
      job,
      -(running != worker.running.end() ? *running : *std::ranges::find_if(worker.reported, is_it))
           .charged,
      now);
  unhold(worker, job, index, now);
  tables_.samples.remove(job.task_id(index), worker.info.key);
  long_runs_.lost(job, index, worker.info.key);
  if (task.copies > 0) copies_.drop(job, task, 1);  // Whichever is left is no copy any more.
  std::erase_if(task.replicas,
                [&](const ReplicaOf& each) { return each.worker == worker.info.key; });
  if (canary) job.canary = CanaryState::waiting;
  tables_.out.push_back(LeaseLost{.task = job.task_id(index),
                                  .worker = worker.info.key,
                                  .attempt = replica.attempt,
                                  .reason = why.message});

  // Until the canary has passed no other task of the job is leased: what was lost is the canary.
  if (auto reason = blame_.note(
          job, task, worker,
          {.index = index, .kind = kind, .canary = job.canary != CanaryState::passed}, why)) {
    end_job(job, std::move(*reason), now);
    return false;
  }
  if (worker.newcomer() && kind != Blame::ours && tables_.settings.safeguards.lost_goes_to_trusted)
    task.for_trusted = true;
  if (replica.newcomer && (kind == Blame::ours || !tables_.settings.safeguards.tries_are_spent))
    give_try_back(job);
  if (kind != Blame::none && kind != Blame::ours) {
    const Instant retry_at = now + (kind == Blame::forgery ? tables_.settings.retry_forger_after
                                    : kind == Blame::unable || kind == Blame::signed_before
                                        ? tables_.settings.retry_unable_after
                                        : tables_.settings.retry_same_after);
    std::erase_if(task.failures,
                  [&](const FailureOn& failure) { return failure.worker == worker.info.key; });
    task.failures.push_back({.worker = worker.info.key, .retry_at = retry_at});
    tables_.deadlines.retries.set(retry_at, job.task_id(index));
  }
  job.reopen(index, task);
  listings_.list(job);
  tables_.agenda.mark(job);
  return true;
}

void Scheduler::State::lose_all(WorkerState& worker, Blame head, const Error& why, Instant now) {
  while (!worker.running.empty()) {
    const Holding holding = worker.running.front();
    lose(worker, *holding.job, holding.index, std::exchange(head, Blame::none), why, now);
  }
  while (!worker.reported.empty()) {
    const Holding holding = worker.reported.front();
    lose(worker, *holding.job, holding.index, Blame::none, why, now);
  }
}

void Scheduler::State::cancel_leases(JobState& job, std::string_view reason, Instant now) {
  std::map<std::uint64_t, Cancel> cancels;  // By the workers' order of arrival.
  for (auto& [index, task] : job.tasks) {
    for (const ReplicaOf& replica : task.replicas) {
      if (replica.state == ReplicaState::counted) continue;
      WorkerState& worker = tables_.workers.at(replica.worker);
      unhold(worker, job, index, now);
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

void Scheduler::State::disconnect(WorkerState& worker, Blame head, const Error& why, Instant now) {
  worker.gone = true;
  members_.set_slots(worker, 0);
  lose_all(worker, head, why, now);
  tables_.histories.departs(worker.info.key, now);
  erase_worker(worker);
}

void Scheduler::State::end_job(JobState& job, Error reason, Instant now) {
  const JobId id = job.spec.id;
  cancel_leases(job, reason.message, now);
  erase_job(job);
  tables_.out.push_back(JobFailed{.job = id, .reason = std::move(reason)});
}

bool Scheduler::State::pass_canary(JobState& job, const Measurement& measurement,
                                   const WorkerState* by, Instant now) {
  const bool alone = by == nullptr || !by->established();  // Its word is enough.
  if (alone) job.paces.clear();
  if (!alone) prices_.note(job, measurement, *by);
  const std::vector<double> own =
      alone ? std::vector{reference_seconds_per_workgroup(measurement)} : values_of(job.paces);
  const double pace = lower_median(own);
  if (by == nullptr || by->info.standing == Standing::invited)
    tables_.out.push_back(Measured{.job = job.spec.id,
                                   .by = by == nullptr ? PublicKey{} : by->info.key,
                                   .seconds_per_workgroup = pace,
                                   .alone = true});
  const Estimate made = prices_.priced(job, own);
  const PriceTerms terms = job.price_terms();
  const MicroCredits most = most_of(terms);
  if (made.price > most && !alone && prices_.another_measures(job)) {
    // This task is paid as one that the client allows.
    const std::uint64_t shares = std::uint64_t{job.spec.tasks} * job.spec.replicas;
    job.spec.estimate = made;
    job.spec.estimate->price = most - most % static_cast<MicroCredits>(shares);
    job.canary = CanaryState::waiting;
    job.canary_index.reset();
    listings_.list(job);
    tables_.agenda.mark(job);
    return true;
  }
  job.canary = CanaryState::passed;
  job.pace = pace;
  job.pace_usual = pace;
  job.spec.estimate = made;
  if (made.price > most) {
    end_job(job, {ErrorCode::insufficient_funds, over_the_most(made, terms)}, now);
    return false;
  }
  tables_.out.push_back(Estimated{.job = job.spec.id, .estimate = made});
  time_scouts(job, now);
  listings_.list(job);
  tables_.agenda.mark(job);
  return true;
}

void Scheduler::State::measured(WorkerState& worker, JobState& job,
                                const Measurement& measurement) {
  prices_.reprice(job, measurement, worker);
  const double pace = reference_seconds_per_workgroup(measurement);
  const double canary = job.spec.estimate ? job.spec.estimate->reference_seconds_per_workgroup : 0;
  if (pace > 0 && canary > 0) {
    // How much faster it is than it said, against the canary: halfway in five results, in the
    // logarithm, so that one wild value moves it by no more than another. Measured with the rate
    // that it said, or each value would feed the next.
    const double most = members_.says(worker.info.standing) ? rate_correction_max : rate_shown_max;
    const double shown = std::clamp(canary / pace, 1 / most, most);
    const double now_at = worker.rate / worker.rate_said;
    members_.set_rate(worker, worker.rate_said * now_at * std::pow(shown / now_at, 0.13));
  }
  if (worker.newcomer() && tables_.settings.safeguards.rates_are_shown)
    return;  // What it takes to delay one of its own results delays no other.
  job.pace = std::max(job.pace, pace);
  constexpr double weight = 0.1;
  job.pace_usual += weight * (pace - job.pace_usual);
}

void Scheduler::State::erase_job(JobState& job) {
  promises_.withdraw(job);
  for (const auto& [index, task] : job.tasks) long_runs_.forget(job.task_id(index));
  tables_.preemption_requests.end_for(job.spec.id);
  copies_.forget(job);
  samples_.forget(job);
  tables_.clients.leave(job);
  Listings::unlist(job);
  --job.requirements->jobs;
  tables_.agenda.forget(job);
  if (job.spec.deadline) tables_.deadlines.jobs.cancel(*job.spec.deadline, job.spec.id);
  tables_.deadlines.unfit_looks.cancel(job.unfit_at, job.spec.id);
  tables_.jobs.erase(job);
}

void Scheduler::State::erase_worker(WorkerState& worker) {
  worker.gone = true;
  listings_.list(worker);
  tables_.agenda.forget(worker);
  RequirementClasses::leave(worker);
  tables_.workers.erase(worker);
}

}  // namespace weft::scheduler
