#include "decisions/scheduler/canaries.h"

#include <algorithm>
#include <utility>

#include "decisions/scheduler/measured_work.h"

namespace weft::scheduler {

void Canaries::time_scouts(JobState& job, Instant now) {
  for (auto& [index, task] : job.tasks) {
    for (const ReplicaOf& replica : task.replicas) {
      if (replica.state != ReplicaState::leased) continue;
      WorkerState& worker = tables_.workers.at(replica.worker);
      for (Holding& each : worker.running) {
        if (each.job != &job || each.index != index || each.seconds > 0) continue;
        each.seconds = parts_.prospects.predicted_seconds(worker, job, index);
        each.usual = each.seconds;
        worker.load_seconds += each.usual;
        parts_.long_runs.watch(worker, job, index, each.seconds, now);
      }
      parts_.listings.list(worker);
    }
  }
}

void Canaries::take_back(WorkerState& worker, Instant now) {
  if (worker.running.size() < 2 || !parts_.prospects.is_stuck(worker)) return;
  const Error why{ErrorCode::cancelled, "The task waited for a task of unknown length."};
  Cancel cancel{.worker = worker.info.key, .tasks = {}, .reason = why.message};
  while (worker.running.size() > 1) {
    const Holding holding = worker.running[1];
    cancel.tasks.push_back(
        {.task = holding.job->task_id(holding.index), .attempt = holding.attempt});
    parts_.leases.lose(worker, *holding.job, holding.index, Blame::ours, why, now);
  }
  tables_.out.push_back(std::move(cancel));
}

bool Canaries::pass(JobState& job, const Measurement& measurement, const WorkerState* by,
                    Instant now) {
  // True if this measurement alone makes the price: it is by the operator's device or an invited
  // worker.
  const bool alone = by == nullptr || !by->established();
  if (alone) job.paces.clear();
  if (!alone) parts_.prices.note(job, measurement, *by);
  const std::vector<double> own =
      alone ? std::vector{reference_seconds_per_workgroup(measurement)} : values_of(job.paces);
  const double pace = lower_median(own);
  if (by == nullptr || by->info.standing == Standing::invited)
    tables_.out.push_back(Measured{.job = job.spec.id,
                                   .by = by == nullptr ? PublicKey{} : by->info.key,
                                   .seconds_per_workgroup = pace,
                                   .alone = true});
  const Estimate made = parts_.prices.priced(job, own);
  const PriceTerms terms = job.price_terms();
  const MicroCredits most = most_of(terms);
  if (made.price > most && !alone && parts_.prices.another_measures(job)) {
    // The price may be false, so another worker runs a further canary. This worker is paid for its
    // task at the highest price that the client allows.
    const std::uint64_t shares = std::uint64_t{job.spec.tasks} * job.spec.replicas;
    job.spec.estimate = made;
    job.spec.estimate->price = most - most % static_cast<MicroCredits>(shares);
    job.canary = CanaryState::waiting;
    job.canary_index.reset();
    parts_.listings.list(job);
    tables_.agenda.mark(job);
    return true;
  }
  job.canary = CanaryState::passed;
  job.pace = pace;
  job.pace_usual = pace;
  job.spec.estimate = made;
  if (made.price > most) {
    parts_.leases.end_job(job, {ErrorCode::insufficient_funds, over_the_most(made, terms)}, now);
    return false;
  }
  tables_.out.push_back(Estimated{.job = job.spec.id, .estimate = made});
  time_scouts(job, now);
  parts_.listings.list(job);
  tables_.agenda.mark(job);
  return true;
}

void Canaries::want_device(JobState& job) {
  if (job.canary != CanaryState::waiting || job.canary_wanted || job.has_trusted() ||
      !tables_.settings.safeguards.trusted_canaries || job.spec.anyone || job.able() == 0)
    return;
  job.canary_wanted = true;
  tables_.out.push_back(CanaryWanted{job.spec.id});
}

}  // namespace weft::scheduler
