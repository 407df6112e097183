// The jobs, their accepted tasks, and the results of open tasks. An accepted task has no results
// here any more, and never opens again.
//
// Pure. Memory: a bit for each task of a job, and the results of each task until it is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

// A result of an open task.
struct HeldReplica {
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  Hash steps = {};  // See Replica::steps.
  bool covered = false;
  bool rejected = false;  // Found wrong or lost; its worker is not asked again.
  [[nodiscard]] bool counts() const { return covered && !rejected; }
};

// The results of an open task and the state of their vote.
struct TaskVotes {
  std::vector<HeldReplica> replicas;  // Results in the order of arrival.
  std::uint32_t wanted = 0;
  std::optional<Ballot> ballot;
  bool provisional = false;  // True if Provisional was reported.

  // Returns the number of results with receipts, with rejected ones.
  [[nodiscard]] std::uint32_t covered() const;
  [[nodiscard]] std::uint32_t counting() const;
  [[nodiscard]] std::uint32_t rejected() const;
};

class VoteTable {
 public:
  // A view of an open task. Valid until its job is removed or the task is settled.
  struct Open {
    TaskId task;
    const Policy& policy;
    TaskVotes& votes;
  };
  struct OpenView {
    TaskId task;
    const Policy& policy;
    const TaskVotes& votes;
  };

  // Adds a job with `tasks` tasks. The id must be new.
  void add_job(const JobId& job, Policy policy, std::uint32_t tasks);
  void remove_job(const JobId& job) { jobs_.erase(job); }
  [[nodiscard]] bool has_job(const JobId& job) const { return jobs_.contains(job); }
  [[nodiscard]] bool has(const TaskId& task) const;
  // Returns the open task; nothing if it is accepted or unknown, or no result of it has come.
  [[nodiscard]] std::optional<Open> find(const TaskId& task);
  [[nodiscard]] std::optional<OpenView> find(const TaskId& task) const;
  // Opens the task if no result of it has come yet, and returns it; nothing if it is accepted or
  // unknown.
  [[nodiscard]] std::optional<Open> open(const TaskId& task);
  // Returns the open tasks of a known job in the order of their indexes.
  [[nodiscard]] std::vector<TaskId> open_tasks(const JobId& job) const;

  // Marks the task as accepted, removes its votes and returns them. The task must not be accepted
  // yet.
  TaskVotes settle(const TaskId& task);
  [[nodiscard]] bool is_accepted(const TaskId& task) const;
  [[nodiscard]] std::uint32_t accepted_count(const JobId& job) const;

 private:
  struct Job {
    Policy policy;
    std::uint32_t accepted_count = 0;
    std::vector<bool> accepted;  // Accepted tasks, by index.
    // Votes of open tasks, by index; never iterated.
    std::unordered_map<std::uint32_t, TaskVotes> open;
  };
  // Returns nullptr if the job is unknown or has no such task.
  [[nodiscard]] Job* job_with(const TaskId& task);

  std::unordered_map<JobId, Job> jobs_;  // Jobs by id; never iterated.
};

}  // namespace weft::trust
