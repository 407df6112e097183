// The jobs of the queue, by their ids. A job's address stays valid until the job is erased.
//
// Pure. Not safe to share between threads. Memory: an entry for each job. A const table still gives
// access to mutable jobs: only the set of jobs is const.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/scheduler/job_state.h"

namespace weft::scheduler {

class JobTable {
 public:
  // The next number in the order of arrival of jobs (Rank::sequence).
  [[nodiscard]] std::uint64_t next_number() { return next_number_++; }
  // Adds a job whose id is not in the table yet.
  JobState& add(std::unique_ptr<JobState> job);
  void erase(const JobState& job);

  [[nodiscard]] bool contains(const JobId& id) const { return jobs_.contains(id); }
  // Returns null if the job is not in the table.
  [[nodiscard]] JobState* find(const JobId& id) const;
  // Returns a job that must be in the table.
  [[nodiscard]] JobState& at(const JobId& id) const { return *jobs_.at(id); }
  // Returns null if the job is unknown, or if the task is settled or untouched.
  [[nodiscard]] TaskState* find_task(const TaskId& id) const;
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }

 private:
  // Never iterated, because the order of an unordered map may vary.
  std::unordered_map<JobId, std::unique_ptr<JobState>> jobs_;
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
