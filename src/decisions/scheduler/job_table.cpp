#include "decisions/scheduler/job_table.h"

#include <utility>

#include "common/base/check.h"

namespace weft::scheduler {

JobState& JobTable::add(std::unique_ptr<JobState> job) {
  const JobId id = job->spec.id;
  const auto [place, is_new] = jobs_.emplace(id, std::move(job));
  check(is_new, "a job is in the table once");
  return *place->second;
}

void JobTable::erase(const JobState& job) { jobs_.erase(JobId(job.spec.id)); }

JobState* JobTable::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second.get();
}

TaskState* JobTable::find_task(const TaskId& id) const {
  JobState* job = find(id.job);
  if (job == nullptr) return nullptr;
  const auto found = job->tasks.find(id.index);
  return found == job->tasks.end() ? nullptr : &found->second;
}

}  // namespace weft::scheduler
