// What a worker has to lose by its tasks: what is locked of its stake while it does one alone, and
// from a mismatch on until it is known whose fault that was (stake.h has the formula).
//
// Pure. Not safe to share between threads.
#pragma once

#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/trust/referee_settings.h"
#include "decisions/trust/replication_policy.h"
#include "decisions/trust/stake.h"
#include "decisions/trust/standing.h"

namespace weft::trust {

class TaskStakes {
 public:
  // Both outlive it.
  TaskStakes(const RefereeSettings& settings, const Standing& standing)
      : settings_(settings), standing_(standing) {}

  // How much of what the worker hands in for such a job is checked.
  [[nodiscard]] CheckRates rates(const PublicKey& worker, const JobTerms& terms,
                                 UnixMillis now) const;
  // What a wrong result costs that a root finds.
  [[nodiscard]] MicroCredits at_risk(MicroCredits value, const CheckRates& rates) const;
  // Established, not suspended, and `stake` reaches for a task of this value: a first lease would
  // be its alone.
  [[nodiscard]] bool reaches(const PublicKey& worker, const JobTerms& terms, MicroCredits value,
                             MicroCredits stake, UnixMillis now) const;

  // False, and nothing is locked, where `held` less what is locked does not reach.
  [[nodiscard]] bool lock(const PublicKey& worker, const TaskId& task, MicroCredits amount,
                          MicroCredits held) {
    return locked_.lock(worker, task, amount, held);
  }
  // What was locked; 0 for nothing.
  MicroCredits unlock(const PublicKey& worker, const TaskId& task) {
    return locked_.unlock(worker, task);
  }
  [[nodiscard]] MicroCredits locked(const PublicKey& worker) const {
    return locked_.locked(worker);
  }

  // A root found the result of the worker wrong: it cannot withdraw what it may lose for that,
  // whatever it has staked.
  void lock_mismatch(const PublicKey& worker, const TaskId& task, MicroCredits penalty);
  void unlock_mismatch(const PublicKey& worker, const TaskId& task);
  // The mismatch counts against the worker from here on, and stays locked with the others until
  // free_mismatches().
  void keep_mismatch(const PublicKey& worker, const TaskId& task);
  [[nodiscard]] bool keeps_mismatch(const PublicKey& worker, const TaskId& task) const;
  void free_mismatches(const PublicKey& worker);

  // What a conviction takes for this task: what is locked for it, which is free then, else what
  // would have been. `terms`: the job's, null if it is not known.
  [[nodiscard]] MicroCredits take_penalty(const PublicKey& worker, const TaskId& task,
                                          MicroCredits value, const JobTerms* terms,
                                          UnixMillis now);

 private:
  const RefereeSettings& settings_;
  const Standing& standing_;
  StakesAtRisk locked_;
  std::unordered_map<PublicKey, std::vector<TaskId>> kept_;  // Mismatches; looked up only.
};

}  // namespace weft::trust
