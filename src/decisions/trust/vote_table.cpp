#include "decisions/trust/vote_table.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace weft::trust {

std::uint32_t TaskVotes::covered() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(replicas, &HeldReplica::covered));
}

std::uint32_t TaskVotes::counting() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(replicas, &HeldReplica::counts));
}

std::uint32_t TaskVotes::rejected() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(replicas, &HeldReplica::rejected));
}

void VoteTable::add_job(const JobId& job, Policy policy, std::uint32_t tasks) {
  check(policy.replicas > 0, "a quorum has at least one replica");
  const auto [place, is_new] = jobs_.try_emplace(job);
  check(is_new, "a job is added once");
  place->second.policy = std::move(policy);
  place->second.accepted.resize(tasks);
}

VoteTable::Job* VoteTable::job_with(const TaskId& task) {
  const auto found = jobs_.find(task.job);
  return found == jobs_.end() || task.index >= found->second.accepted.size() ? nullptr
                                                                             : &found->second;
}

bool VoteTable::has(const TaskId& task) const {
  const auto found = jobs_.find(task.job);
  return found != jobs_.end() && task.index < found->second.accepted.size();
}

std::optional<VoteTable::Open> VoteTable::find(const TaskId& task) {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return std::nullopt;
  const auto open = job->second.open.find(task.index);
  if (open == job->second.open.end()) return std::nullopt;
  return Open{.task = task, .policy = job->second.policy, .votes = open->second};
}

std::optional<VoteTable::OpenView> VoteTable::find(const TaskId& task) const {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return std::nullopt;
  const auto open = job->second.open.find(task.index);
  if (open == job->second.open.end()) return std::nullopt;
  return OpenView{.task = task, .policy = job->second.policy, .votes = open->second};
}

std::optional<VoteTable::Open> VoteTable::open(const TaskId& task) {
  Job* const job = job_with(task);
  if (job == nullptr || job->accepted[task.index]) return std::nullopt;
  return Open{.task = task, .policy = job->policy, .votes = job->open[task.index]};
}

std::vector<TaskId> VoteTable::open_tasks(const JobId& job) const {
  const auto found = jobs_.find(job);
  check(found != jobs_.end(), "a job is restored after it is added");
  std::vector<TaskId> tasks;
  for (const auto& [index, votes] : found->second.open)
    tasks.push_back({.job = job, .index = index});
  std::ranges::sort(tasks, {}, &TaskId::index);
  return tasks;
}

TaskVotes VoteTable::settle(const TaskId& task) {
  Job* const job = job_with(task);
  check(job != nullptr && !job->accepted[task.index], "a task is accepted once, in its job");
  job->accepted[task.index] = true;
  ++job->accepted_count;
  auto open = job->open.extract(task.index);
  return open.empty() ? TaskVotes{} : std::move(open.mapped());
}

bool VoteTable::is_accepted(const TaskId& task) const {
  const auto found = jobs_.find(task.job);
  return found != jobs_.end() && task.index < found->second.accepted.size() &&
         found->second.accepted[task.index];
}

std::uint32_t VoteTable::accepted_count(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? 0 : found->second.accepted_count;
}

}  // namespace weft::trust
