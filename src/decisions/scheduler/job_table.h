// The jobs of the queue, by their ids. A job's address stays the same until it is erased.
//
// Pure. Not safe to share between threads. Memory: an entry for each job. A table that is const
// still gives jobs that may be changed: what it keeps is which jobs there are.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/scheduler/job_state.h"

namespace weft::scheduler {

class JobTable {
 public:
  // The next number in the order in which jobs come (Rank::sequence).
  [[nodiscard]] std::uint64_t next_number() { return next_number_++; }
  // The job's id is not in the table yet.
  JobState& add(std::unique_ptr<JobState> job);
  void erase(const JobState& job);

  [[nodiscard]] bool contains(const JobId& id) const { return jobs_.contains(id); }
  // Null for a job that is not in the table.
  [[nodiscard]] JobState* find(const JobId& id) const;
  // The job is in the table.
  [[nodiscard]] JobState& at(const JobId& id) const { return *jobs_.at(id); }
  // Null for a task of an unknown job, for one that is settled, and for one that is untouched.
  [[nodiscard]] TaskState* find_task(const TaskId& id) const;
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }

 private:
  std::unordered_map<JobId, std::unique_ptr<JobState>> jobs_;  // Looked up only.
  std::uint64_t next_number_ = 1;
};

inline JobState* JobTable::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second.get();
}

inline TaskState* JobTable::find_task(const TaskId& id) const {
  JobState* job = find(id.job);
  if (job == nullptr) return nullptr;
  const auto found = job->tasks.find(id.index);
  return found == job->tasks.end() ? nullptr : &found->second;
}

}  // namespace weft::scheduler
