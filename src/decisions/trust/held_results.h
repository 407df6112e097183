// Results that are held back before they are accepted: if their worker is found wrong meanwhile,
// they are computed once more. Of each worker hold_max are held; the oldest is released then, and
// all of a job that waits for nothing else.
//
// Not safe to share between threads.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class HeldResults {
 public:
  explicit HeldResults(RefereeTables& tables) : tables_(tables) {}

  // The task has a case. Nothing more is drawn for its result; its pay is what its worker still has
  // to lose.
  void hold(const TaskId& task, RefereePass& pass);
  // With a winner, what agrees with it is accepted, whichever worker it is from.
  void release(const TaskId& task, RefereePass& pass, std::optional<Hash> winner = {});
  // Where the job waits only for what is held.
  void release_if_last(const JobId& job, RefereePass& pass);
  // Something about a result that may be held is looked at again.
  void leave(const TaskId& task, const TaskCase& open);
  // The same of a job that is removed.
  void forget(const TaskId& task, const TaskCase& held);

  // More votes decide, by this ballot.
  void vote(const TaskId& task, Stage stage, const Ballot& ballot, RefereePass& pass);
  // The worker was found wrong: each of its held results gets a second replica.
  void compute_again(const PublicKey& worker, RefereePass& pass);

 private:
  RefereeTables& tables_;
  std::unordered_map<PublicKey, std::deque<TaskId>> held_;  // Oldest first; looked up only.
};

}  // namespace weft::trust
