#include "decisions/trust/task_cases.h"

#include <utility>

namespace weft::trust {

void TaskCases::add_job(const JobId& id, JobTerms terms, std::uint32_t tasks) {
  JobCases& job = jobs_[id];
  job.terms = std::move(terms);
  job.tasks = tasks;
}

JobCases* TaskCases::find(const JobId& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const JobCases* TaskCases::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

TaskCase* TaskCases::case_of(const TaskId& task) {
  JobCases* job = find(task.job);
  if (job == nullptr) return nullptr;
  const auto open = job->cases.find(task.index);
  return open == job->cases.end() ? nullptr : &open->second;
}

const TaskCase* TaskCases::case_of(const TaskId& task) const {
  const JobCases* job = find(task.job);
  if (job == nullptr) return nullptr;
  const auto open = job->cases.find(task.index);
  return open == job->cases.end() ? nullptr : &open->second;
}

TaskCase& TaskCases::case_for(const TaskId& task, const PublicKey& worker) {
  JobCases& job = at(task.job);
  return job.cases
      .try_emplace(task.index, TaskCase{.stage = Stage::newcomer,
                                        .worker = worker,
                                        .value = job.value,
                                        .rates = {},
                                        .root = {},
                                        .accuser = {},
                                        .suspect = worker})
      .first->second;
}

}  // namespace weft::trust
