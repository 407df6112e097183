// What a lost lease says about its task and its job: which worker counts, and when it is enough to
// end the job.
//
// Wallets are free: what newcomers alone report says nothing about a job, unless no other worker
// could run it. Pure; not safe to share between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

// How a lease ended without a result.
enum class Blame : std::uint8_t {
  none,  // It goes elsewhere at once.
  ours,  // It was taken back, or makes way: the worker did nothing wrong.
  busy,  // The worker gave it back: not to the same one for a while.
  // The worker has signed a result of it, or does not know whether it has: says nothing about the
  // worker or the job, and it does not get it again soon.
  signed_before,
  forgery,  // The worker's answer was wrong: says nothing about the task, and the worker does not
            // get it again soon.
  failure,  // It failed there.
  timeout,
  refusal,  // The worker says that the job is wrong.
  unable,   // It has not got what the task takes.
  gone,     // The worker vanished while running it.
};
// What the error of a worker that lost its lease stands for.
[[nodiscard]] Blame blame_for(ErrorCode code);

class BlameRules {
 public:
  explicit BlameRules(const SchedulerTables& tables) : tables_(tables) {}

  struct Loss {
    std::uint32_t index = 0;  // The task's.
    Blame kind = Blame::none;
    bool canary = false;  // It was the job's canary.
  };
  // Notes the loss with the task and its job. An error ends the job.
  [[nodiscard]] std::optional<Error> note(JobState& job, TaskState& task, const WorkerState& worker,
                                          const Loss& loss, const Error& why) const;
  // Whether every connected worker that could run the job is one of these.
  [[nodiscard]] bool no_other_worker(const JobState& job, const std::vector<PublicKey>& keys) const;

 private:
  // How many of them are trusted, each counted once.
  [[nodiscard]] std::size_t trusted_among(const std::vector<PublicKey>& keys) const;
  // Whether these workers are enough to blame the job, where it takes so many different trusted
  // ones.
  [[nodiscard]] bool are_enough(const JobState& job, const std::vector<PublicKey>& keys,
                                std::size_t enough, Blame kind) const;

  const SchedulerTables& tables_;
};

}  // namespace weft::scheduler
