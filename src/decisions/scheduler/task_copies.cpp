#include "decisions/scheduler/task_copies.h"

namespace weft::scheduler {

void TaskCopies::look_for_late(WorkerState& worker, Instant now) {
  if (worker.running.empty()) return;
  Holding& holding = worker.running.front();
  if (holding.seconds <= 0 ||
      late_at(tables_.settings.speculation, worker.head_since, holding.seconds) > now ||
      holding.look_again > now)
    return;
  holding.look_again = now + tables_.settings.speculation.late_min;
  JobState& job = *holding.job;
  TaskState& task = job.tasks.at(holding.index);
  const bool another_worker = job.able() > task.replicas.size();
  if (job.canary != CanaryState::passed || task.copies > 0 || task.missing() || !another_worker ||
      !job.open.empty() || job.has_fresh())
    return;
  if (!may_copy(tables_.settings.speculation, under_way_, tables_.workers.size())) return;
  ++task.copies;
  ++job.copies;
  ++under_way_;
  ++made_;
  job.reopen(holding.index, task);
  listings_.list(job);
  tables_.agenda.mark(job);
}

void TaskCopies::drop(JobState& job, TaskState& task, std::uint32_t count) {
  task.copies -= count;
  job.copies -= count;
  under_way_ -= count;
}

}  // namespace weft::scheduler
