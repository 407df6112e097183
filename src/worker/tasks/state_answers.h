// The answers to requests for states between steps (OpenStates). The worker stores the requested
// states as blobs, one after the other, and then sends the answer, which says for each state
// whether it is stored.
//
// If an upload fails for a temporary reason, it is tried again, six times while there is
// a connection. An answer that is completed without
// a connection is sent over the next connection. A repeated request for a result replaces the
// request before it.
//
// Threading and lifetime: the session's thread; may be destroyed at any time; the outcomes of
// uploads are then dropped. Bounds: results_max results, one blob in memory at a time. States of
// further results are not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/protocol/messages.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/host.h"
#include "worker/tasks/leased_task.h"
#include "worker/tasks/step_trace.h"

namespace weft::worker {

class StateAnswers {
 public:
  StateAnswers(Host& host, Connection& connection, const WorkSession& session,
               std::size_t results_max);

  // Keeps the states of a result until its verdict.
  void add(const TaskKey& key, std::shared_ptr<const StepTrace> trace);
  void erase(const TaskKey& key);
  void clear();

  // The answer has no state for a result that is not kept, and for a group that does not exist.
  void open(const protocol::OpenStates& asked);
  // Sends the answers that were completed without a connection.
  void on_ready();

 private:
  struct Answer {
    TaskKey key;
    std::uint64_t serial = 0;
    protocol::States states;
    std::size_t next = 0;  // The state that is stored next.
  };
  struct Upload {
    std::uint64_t answer = 0;  // Serial number of the answer.
    protocol::StepState state;
    std::shared_ptr<const ByteVector> bytes;
    int attempt = 1;
  };
  void work();
  void upload(const Upload& upload);
  void uploaded(const Upload& upload, const Result<>& result);
  void next_upload() {
    uploading_ = false;
    work();
  }
  [[nodiscard]] bool is_wanted(const Upload& upload) const {
    return !answers_.empty() && answers_.front().serial == upload.answer;
  }

  Host& host_;
  Connection& connection_;
  const WorkSession& session_;
  const std::size_t results_max_;
  std::map<TaskKey, std::shared_ptr<const StepTrace>> traces_;
  // Answers in the order of their requests; only the first is worked on.
  std::deque<Answer> answers_;
  std::map<TaskKey, protocol::States> unsent_;  // Complete answers that wait for a connection.
  bool uploading_ = false;
  std::uint64_t serial_ = 0;
  Alive alive_;
};

}  // namespace weft::worker
