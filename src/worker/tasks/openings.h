// The data that a worker sends of its results if the coordinator asks for it before the verdicts:
// chunks of outputs (commitments.h), and states between groups of steps (state_answers.h).
//
// Threading and lifetime: the session's thread; may be destroyed at any time.
#pragma once

#include <cstddef>
#include <memory>

#include "common/protocol/messages.h"
#include "worker/tasks/commitments.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/host.h"
#include "worker/tasks/leased_task.h"
#include "worker/tasks/state_answers.h"
#include "worker/tasks/step_trace.h"

namespace weft::worker {

class Openings {
 public:
  Openings(Host& host, Connection& connection, const WorkSession& session, std::size_t results_max)
      : connection_(connection),
        commitments_(results_max),
        states_(host, connection, session, results_max) {}

  // `steps` is null if the result has no roots of steps.
  void add(const TaskKey& key, Commitments::Leaves leaves, std::shared_ptr<const StepTrace> steps);
  // Removes the data of a result that has a verdict, or was taken back.
  void erase(const TaskKey& key);
  // Removes the data of all results, because they were for another coordinator.
  void clear();
  void on_ready() { states_.on_ready(); }
  void open(const protocol::OpenChunks& asked) { connection_.send(commitments_.open(asked)); }
  void open(const protocol::OpenStates& asked) { states_.open(asked); }

 private:
  Connection& connection_;
  Commitments commitments_;
  StateAnswers states_;
};

}  // namespace weft::worker
