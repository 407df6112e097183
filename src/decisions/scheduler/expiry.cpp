#include "decisions/scheduler/expiry.h"

#include <utility>
#include <vector>

#include "common/base/format.h"

namespace weft::scheduler {

void Expiry::expire(Instant now) {
  end_late_jobs(now);
  end_unfit_jobs(now);
  while (const auto due = tables_.deadlines.workers.due(now))
    look_at(tables_.workers.at(*due), now);
  try_again(now);
  end_patience(now);
  look_at_starving(now);
}

void Expiry::end_late_jobs(Instant now) {
  while (const auto due = tables_.deadlines.jobs.due(now)) {
    JobState& job = tables_.jobs.at(*due);
    parts_.leases.end_job(job,
                          {ErrorCode::deadline_exceeded,
                           weft::format("The job's deadline passed with {} of {} tasks accepted.",
                                        job.settled_count, job.spec.tasks)},
                          now);
  }
}

// Checks each job a day after its submission, and again at the earliest time at which it can have
// had no worker for a day: a day after its last worker left, or else a day after this check.
void Expiry::end_unfit_jobs(Instant now) {
  while (const auto due = tables_.deadlines.unfit_looks.due(now)) {
    JobState& job = tables_.jobs.at(*due);
    const bool waits = job.leases == 0 && (!job.open.empty() || job.has_fresh());
    const Instant since =
        waits && !job.requirements->has_members() ? job.requirements->empty_since : now;
    if (now - since >= tables_.settings.unfit_max) {
      parts_.leases.end_job(
          job,
          {ErrorCode::unavailable,
           weft::format("For {} hours no worker had what the job requires; {} of {} tasks were "
                        "accepted.",
                        tables_.settings.unfit_max / std::chrono::hours(1), job.settled_count,
                        job.spec.tasks)},
          now);
      continue;
    }
    tables_.deadlines.unfit_looks.cancel(job.unfit_at, job.spec.id);
    job.unfit_at = since + tables_.settings.unfit_max;
    tables_.deadlines.unfit_looks.set(job.unfit_at, job.spec.id);
  }
}

void Expiry::look_at(WorkerState& worker, Instant now) {
  if (worker.heard + tables_.settings.beat * tables_.settings.beats_missed_max <= now) {
    const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(now - worker.heard);
    const Error why{ErrorCode::unavailable,
                    weft::format("The worker has said nothing for {} ms.", silent.count())};
    tables_.out.push_back(WorkerLost{.worker = worker.info.key, .reason = why.message});
    parts_.removal.disconnect(worker, Blame::gone, why, now);
    return;
  }
  if (!worker.running.empty() &&
      worker.head_since + parts_.prospects.wall_bound(worker) + tables_.settings.grace <= now &&
      !expire_leases(worker, now))
    return;
  while (!worker.reported.empty() &&
         worker.reported.front().since + tables_.settings.grace <= now) {
    const Holding holding = worker.reported.front();
    parts_.leases.lose(
        worker, *holding.job, holding.index, Blame::failure,
        {ErrorCode::deadline_exceeded, "The worker sent no receipt for the result in time."}, now);
  }
  parts_.canaries.take_back(worker, now);
  parts_.copies.look_for_late(worker, now);
  parts_.listings.list(worker);
}

bool Expiry::expire_leases(WorkerState& worker, Instant now) {
  const Error why{ErrorCode::deadline_exceeded, "The lease expired."};
  if (++worker.expiries >= tables_.settings.expiries_max) {
    tables_.out.push_back(
        WorkerLost{.worker = worker.info.key,
                   .reason = weft::format("The worker let {} leases expire.", worker.expiries)});
    parts_.removal.disconnect(worker, Blame::timeout, why, now);
    return false;
  }
  Cancel cancel{.worker = worker.info.key, .tasks = {}, .reason = why.message};
  for (const Holding& holding : worker.running)
    cancel.tasks.push_back(
        {.task = holding.job->task_id(holding.index), .attempt = holding.attempt});
  tables_.out.push_back(std::move(cancel));
  Blame head = Blame::timeout;
  while (!worker.running.empty()) {
    const Holding holding = worker.running.front();
    parts_.leases.lose(worker, *holding.job, holding.index, std::exchange(head, Blame::none), why,
                       now);
  }
  return true;
}

void Expiry::try_again(Instant now) {
  while (const auto id = tables_.deadlines.retries.take_due(now)) {
    tables_.resume_reservations.drop_expired(*id, now);
    TaskState* task = tables_.jobs.find_task(*id);
    if (task == nullptr || !task->missing()) continue;
    JobState& job = *tables_.jobs.find(id->job);
    job.reopen(id->index, *task);  // Also for workers that passed over the task.
    parts_.listings.list(job);
    tables_.agenda.mark(job);
  }
}

void Expiry::end_patience(Instant now) {
  while (const auto due = tables_.deadlines.patience.take_due(now)) {
    JobState* job = tables_.jobs.find(*due);
    if (job != nullptr && job->patient_until && *job->patient_until <= now)
      tables_.agenda.mark(*job);
  }
}

void Expiry::look_at_starving(Instant now) {
  while (const auto id = tables_.deadlines.starving.take_due(now)) {
    const TaskState* task = tables_.jobs.find_task(*id);
    if (task == nullptr || task->replicas.size() >= task->wanted) continue;
    std::vector<PublicKey> had;
    for (const ReplicaOf& replica : task->replicas) {
      if (replica.state == ReplicaState::counted) had.push_back(replica.worker);
    }
    if (had.size() == task->replicas.size() &&
        parts_.blame.no_other_worker(*tables_.jobs.find(id->job), had))
      tables_.out.push_back(NoWorkerLeft{*id});
    tables_.deadlines.starving.set(now + tables_.settings.starved_after, *id);
  }
}

}  // namespace weft::scheduler
