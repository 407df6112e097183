// What runs beside a job's canary, and what waits behind one.
#include <algorithm>
#include <cmath>

#include "decisions/scheduler/measured_work.h"
#include "decisions/scheduler/state.h"

namespace weft::scheduler {

// The canary has passed while others of its job were under way: how long they take is known now,
// too.
void Scheduler::State::time_scouts(JobState& job, Instant now) {
  for (auto& [index, task] : job.tasks) {
    for (const ReplicaOf& replica : task.replicas) {
      if (replica.state != ReplicaState::leased) continue;
      WorkerState& worker = tables_.workers.at(replica.worker);
      for (Holding& each : worker.running) {
        if (each.job != &job || each.index != index || each.seconds > 0) continue;
        each.seconds = prospects_.predicted_seconds(worker, job, index);
        each.usual = each.seconds;
        worker.load_seconds += each.usual;
        long_runs_.watch(worker, job, index, each.seconds, now);
      }
      listings_.list(worker);
    }
  }
}

// What was put after it goes back into the queue, for any free worker. The worker has fetched its
// data for nothing, at most.
void Scheduler::State::take_back(WorkerState& worker, Instant now) {
  if (worker.running.size() < 2 || !prospects_.is_stuck(worker)) return;
  const Error why{ErrorCode::cancelled, "It waited behind a task of unknown length."};
  Cancel cancel{.worker = worker.info.key, .tasks = {}, .reason = why.message};
  while (worker.running.size() > 1) {
    const Holding holding = worker.running[1];
    cancel.tasks.push_back(
        {.task = holding.job->task_id(holding.index), .attempt = holding.attempt});
    leases_.lose(worker, *holding.job, holding.index, Blame::ours, why, now);
  }
  tables_.out.push_back(std::move(cancel));
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
    leases_.end_job(job, {ErrorCode::insufficient_funds, over_the_most(made, terms)}, now);
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

}  // namespace weft::scheduler
