#include "decisions/scheduler/job_removal.h"

#include "decisions/scheduler/listings.h"

namespace weft::scheduler {

void JobRemoval::erase(JobState& job) {
  parts_.promises.withdraw(job);
  for (const auto& [index, task] : job.tasks) parts_.long_runs.forget(job.task_id(index));
  tables_.preemption_requests.end_for(job.spec.id);
  parts_.copies.forget(job);
  parts_.samples.forget(job);
  tables_.clients.leave(job);
  Listings::unlist(job);
  --job.requirements->jobs;
  tables_.agenda.forget(job);
  if (job.spec.deadline) tables_.deadlines.jobs.cancel(*job.spec.deadline, job.spec.id);
  tables_.deadlines.unfit_looks.cancel(job.unfit_at, job.spec.id);
  tables_.jobs.erase(job);
}

}  // namespace weft::scheduler
