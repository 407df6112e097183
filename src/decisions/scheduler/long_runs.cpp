#include "decisions/scheduler/long_runs.h"

#include <algorithm>

namespace weft::scheduler {
namespace {

constexpr Duration keep_min = std::chrono::seconds(10);
constexpr Duration keep_max = std::chrono::hours(1);

}  // namespace

RunId LongRuns::run_of(const JobState& job, std::uint32_t index, const PublicKey& worker) {
  return job.spec.states_shared ? RunId(job.task_id(index)) : RunId(job.task_id(index), worker);
}

void LongRuns::watch(const WorkerState& worker, const JobState& job, std::uint32_t index,
                     double predicted, Instant since) {
  if (!prospects_.is_long(predicted)) return;
  tables_.preemption.began(run_of(job, index, worker.info.key), worker.info.key,
                           {.score = job.score, .seconds = predicted}, since);
}

void LongRuns::done(const JobState& job, std::uint32_t index, const PublicKey& worker) {
  tables_.preemption.done(run_of(job, index, worker));
  tables_.preemption_requests.end(job.task_id(index), worker);
}

void LongRuns::lost(const JobState& job, std::uint32_t index, const PublicKey& worker) {
  tables_.preemption.lost(run_of(job, index, worker));
  tables_.preemption_requests.end(job.task_id(index), worker);
}

void LongRuns::forget(const TaskId& task) {
  tables_.preemption.ended(task);
  tables_.resume_reservations.release(task);
  tables_.preemption_requests.end(task);
}

// The task is reserved for the time that another worker would need to reach the same state. So
// waiting costs at most twice the best choice.
void LongRuns::reserve(const WorkerState& worker, JobState& job, std::uint32_t index,
                       double done_seconds, Instant now) {
  const auto task = job.tasks.find(index);
  if (job.spec.states_shared || task == job.tasks.end() || !task->second.missing() || worker.gone ||
      worker.info.slots == 0)
    return;
  const auto until =
      now + std::clamp<Duration>(std::chrono::duration_cast<Duration>(
                                     std::chrono::duration<double>(std::min(done_seconds, 1e6))),
                                 keep_min, keep_max);
  tables_.resume_reservations.reserve(job.task_id(index), worker.info.key, until);
  tables_.deadlines.retries.set(until, job.task_id(index));
}

bool LongRuns::is_reserved_for_other(const TaskId& id, const TaskState& task,
                                     const PublicKey& worker) const {
  if (tables_.resume_reservations.empty()) return false;
  const std::size_t reserved = tables_.resume_reservations.count(id);
  if (reserved == 0 || tables_.resume_reservations.has(id, worker)) return false;
  return task.wanted + task.copies <= task.replicas.size() + reserved;
}

void LongRuns::release_reservations(const WorkerState& worker) {
  for (const TaskId& id : tables_.resume_reservations.release_all(worker.info.key)) {
    JobState& job = *tables_.jobs.find(id.job);
    job.reopen(id.index, job.tasks.at(id.index));
    listings_.list(job);
    tables_.agenda.mark(job);
  }
}

}  // namespace weft::scheduler
