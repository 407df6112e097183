// Results that are held back before they are accepted, so that they can be computed once more if
// their worker is found wrong meanwhile. At most hold_max results of each worker are held. One more
// releases the worker's oldest result; a job whose other tasks are all accepted releases all of its
// results.
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

  // Holds the result of a task that has a case. The task's stake is unlocked, because no further
  // check of the result is drawn; until the release the worker can still lose its pay.
  void hold(const TaskId& task, RefereePass& pass);
  // Accepts the task's result. If `winner` is given, the results with this root are accepted,
  // whichever workers handed them in.
  void release(const TaskId& task, RefereePass& pass, std::optional<Hash> winner = {});
  // Releases the job's held results if all its other tasks are accepted.
  void release_if_last(const JobId& job, RefereePass& pass);
  // Removes the task's result from the held results, if it is held, because it will be checked
  // again.
  void leave(const TaskId& task, const TaskCase& open);
  // Removes a held result whose job is removed.
  void forget(const TaskId& task, const TaskCase& held);

  // Lets more workers run the task, and decides it by this ballot.
  void vote(const TaskId& task, Stage stage, const Ballot& ballot, RefereePass& pass);
  // Call it when the worker was found wrong: each of its held results gets a second replica.
  void compute_again(const PublicKey& worker, RefereePass& pass);

 private:
  RefereeTables& tables_;
  // Oldest first; the map is never iterated.
  std::unordered_map<PublicKey, std::deque<TaskId>> held_;
};

}  // namespace weft::trust
