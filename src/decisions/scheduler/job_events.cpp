#include "decisions/scheduler/job_events.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace weft::scheduler {

Result<> JobEvents::add(const Job& job, Instant now, std::span<const TaskProgress> progress) {
  tables_.reach(now);
  if (tables_.jobs.contains(job.id))
    return fail(ErrorCode::already_exists, "The job {} is known already.", job.id.text());
  if (job.tasks == 0 || job.replicas == 0 || job.workgroups < job.tasks) {
    return fail(ErrorCode::invalid_argument,
                "A job has at least one task, one replica and one workgroup for each task; this "
                "one has {}, {} and {}.",
                job.tasks, job.replicas, job.workgroups);
  }
  auto made = std::make_unique<JobState>();
  JobState& added = *made;
  added.spec = job;
  added.since = now - job.waited;
  added.per_unit = job.per_unit > 0 ? job.per_unit : tables_.settings.pricing.per_unit;
  const Worth worth{
      .stake = job.stake,
      .priority = job.priority,
      .deadline_s = job.deadline ? std::max(seconds(*job.deadline - now + job.waited), 1.0) : 0,
      .workgroups = job.workgroups,
      .replicas = job.replicas};
  added.score = score(worth);
  added.urgent = urgency(worth) >= tables_.settings.urgent_from;
  added.rank = rank_of(worth, now - job.waited, tables_.jobs.next_number());
  added.settled.resize(job.tasks);
  if (job.estimate) {
    added.canary = CanaryState::passed;
    added.pace = job.estimate->reference_seconds_per_workgroup;
    added.pace_usual = added.pace;
  }
  for (const TaskProgress& each : progress) {
    if (each.index >= job.tasks)
      return fail(ErrorCode::invalid_argument, "The job {} has {} tasks; there is no task {}.",
                  job.id.text(), job.tasks, each.index);
    if (each.settled) {
      added.settled_count += added.settled[each.index] ? 0 : 1;
      added.settled[each.index] = true;
      continue;
    }
    TaskState& task = added.touch(each.index);
    task.wanted =
        std::max(job.replicas_first == 0 ? job.replicas : job.replicas_first, each.replicas_wanted);
    for (const PublicKey& worker : each.delivered)
      task.replicas.push_back({.worker = worker, .attempt = 0, .state = ReplicaState::counted});
    added.reopen(each.index, task);
  }
  added.requirements = &tables_.classes.of(job, tables_.workers, tables_.latest);
  ++added.requirements->jobs;
  if (job.deadline) tables_.deadlines.jobs.set(std::max(*job.deadline, now), job.id);
  if (job.deadline) added.spec.deadline = std::max(*job.deadline, now);
  added.unfit_at = now + tables_.settings.unfit_max;
  tables_.deadlines.unfit_looks.set(added.unfit_at, job.id);
  tables_.clients.join(added);
  tables_.jobs.add(std::move(made));
  parts_.listings.list(added);
  tables_.agenda.mark(added);
  return {};
}

void JobEvents::remove(const JobId& job, std::string_view reason) {
  JobState* found = tables_.jobs.find(job);
  if (found == nullptr) return;
  parts_.leases.cancel(*found, reason, tables_.latest);
  parts_.removal.erase(*found);
}

}  // namespace weft::scheduler
