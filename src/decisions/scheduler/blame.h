// Rules that say what a lost lease shows about its task and its job: which workers' losses count,
// and how many losses end the job.
//
// Wallets are free, so reports of newcomers alone say nothing about a job, unless no other worker
// could run it. Pure; not safe to share between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

// The way in which a lease ended without a result.
enum class Blame : std::uint8_t {
  none,  // The task goes to another worker at once.
  ours,  // The scheduler ended the lease: the worker did nothing wrong.
  busy,  // The worker gave the task back, and does not get it again for a while.
  // The worker has signed a result of the task before, or does not know whether it has. This says
  // nothing about the worker or the job. The worker does not get the task again soon.
  signed_before,
  // The worker's answer was wrong. This says nothing about the task. The worker does not get the
  // task again soon.
  forgery,
  failure,  // The task failed on the worker.
  timeout,
  refusal,  // The worker reports that the job is wrong.
  unable,   // The worker lacks something that the task needs, such as memory.
  gone,     // The worker vanished while it ran the task.
};
// Returns the blame for which the error code of a lost lease stands.
[[nodiscard]] Blame blame_for(ErrorCode code);

class BlameRules {
 public:
  explicit BlameRules(const SchedulerTables& tables) : tables_(tables) {}

  struct Loss {
    std::uint32_t index = 0;  // Index of the task.
    Blame kind = Blame::none;
    bool canary = false;  // True if the task was the job's canary.
  };
  // Records the loss in the task and in the job. Returns an error if the loss ends the job.
  [[nodiscard]] std::optional<Error> note(JobState& job, TaskState& task, const WorkerState& worker,
                                          const Loss& loss, const Error& why) const;
  // True if `keys` names every connected worker that could run the job.
  [[nodiscard]] bool no_other_worker(const JobState& job, const std::vector<PublicKey>& keys) const;

 private:
  // The number of different trusted workers in `keys`.
  [[nodiscard]] std::size_t trusted_among(const std::vector<PublicKey>& keys) const;
  // True if the workers in `keys` are enough to blame the job. `enough` is the number of different
  // trusted workers that this kind of loss needs.
  [[nodiscard]] bool are_enough(const JobState& job, const std::vector<PublicKey>& keys,
                                std::size_t enough, Blame kind) const;

  const SchedulerTables& tables_;
};

}  // namespace weft::scheduler
