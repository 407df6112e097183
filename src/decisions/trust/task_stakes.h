// The stakes that workers can lose by their tasks. A stake is locked while its worker runs a task
// alone, and from a mismatch until it is known whether the worker or its device caused it. stake.h
// has the formula.
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
  // `settings` and `standing` must outlive the object.
  TaskStakes(const RefereeSettings& settings, const Standing& standing)
      : settings_(settings), standing_(standing) {}

  // Returns the shares of the worker's results that are checked in a job with these terms. `groups`
  // is JobTerms::groups if the worker commits to its steps, else 1.
  [[nodiscard]] CheckRates rates(const PublicKey& worker, const JobTerms& terms, UnixMillis now,
                                 std::uint32_t groups = 1) const;
  // Returns the stake to lock for a task of this value, which the worker loses if a root finds its
  // result wrong.
  [[nodiscard]] MicroCredits at_risk(MicroCredits value, const CheckRates& rates) const;
  // True if the worker would run the task alone at a first lease: it is established and not
  // suspended, and its free stake is enough for a task of this value. `stake` is its whole stake.
  [[nodiscard]] bool reaches(const PublicKey& worker, const JobTerms& terms, MicroCredits value,
                             MicroCredits stake, UnixMillis now, std::uint32_t groups = 1) const;

  // Returns false and locks nothing if `held` minus the locked stakes is less than `amount`.
  [[nodiscard]] bool lock(const PublicKey& worker, const TaskId& task, MicroCredits amount,
                          MicroCredits held) {
    return locked_.lock(worker, task, amount, held);
  }
  // Returns the amount that was locked; 0 if nothing was locked.
  MicroCredits unlock(const PublicKey& worker, const TaskId& task) {
    return locked_.unlock(worker, task);
  }
  [[nodiscard]] MicroCredits locked(const PublicKey& worker) const {
    return locked_.locked(worker);
  }

  // Call it when a root found the result of the worker wrong. `penalty` is locked, even if the
  // worker's stake is smaller, so that the worker cannot withdraw it.
  void lock_mismatch(const PublicKey& worker, const TaskId& task, MicroCredits penalty);
  void unlock_mismatch(const PublicKey& worker, const TaskId& task);
  // Call it when the mismatch begins to count against the worker. Its penalty stays locked, with
  // the penalties of the worker's other mismatches, until free_mismatches().
  void keep_mismatch(const PublicKey& worker, const TaskId& task);
  [[nodiscard]] bool keeps_mismatch(const PublicKey& worker, const TaskId& task) const;
  void free_mismatches(const PublicKey& worker);

  // Returns the penalty of a conviction for this task: the stake that is locked for it, which is
  // unlocked, or the stake that would have been locked if the worker had run the task alone.
  // `terms` are the job's, null if the job is not known.
  [[nodiscard]] MicroCredits take_penalty(const PublicKey& worker, const TaskId& task,
                                          MicroCredits value, const JobTerms* terms,
                                          UnixMillis now);

 private:
  const RefereeSettings& settings_;
  const Standing& standing_;
  StakesAtRisk locked_;
  // Mismatches that count; never iterated.
  std::unordered_map<PublicKey, std::vector<TaskId>> kept_;
};

}  // namespace weft::trust
