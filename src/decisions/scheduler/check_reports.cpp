#include "decisions/scheduler/check_reports.h"

#include <algorithm>

#include "decisions/scheduler/canaries.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

void CheckReports::begins(const TaskId& task, const PublicKey& worker, double share, Instant now) {
  samples_.begin(task, worker, share, now);
}

void CheckReports::stalls(const TaskId& task, const PublicKey& worker) {
  tables_.samples.stall(task, worker);
}

void CheckReports::ends(const TaskId& task, const PublicKey& worker, SampleQueue::Outcome outcome,
                        Instant now) {
  tables_.samples.end(task, worker, outcome, now);
}

void CheckReports::decided(const TaskId& task, const PublicKey& worker) {
  tables_.samples.decide(task, worker);
}

void CheckReports::canary_measured(const JobId& id, const Measurement& measurement, Instant now) {
  tables_.reach(now);
  JobState* job = tables_.jobs.find(id);
  if (job == nullptr || job->canary != CanaryState::waiting) return;
  if (job->spec.sample_parts > 0)
    tables_.samples.expect(id, measurement.elapsed_seconds / std::max(measurement.workgroups, 1U));
  (void)canaries_.pass(*job, measurement, nullptr, now);
}

}  // namespace weft::scheduler
