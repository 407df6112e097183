// The tasks that one worker was leased in its session or has proven to hold. The coordinator
// accepts only results of these tasks. A lease also gives the worker the right to read and store
// blobs (jobs::WorkerBlobs).
//
// Threading: any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/guarded.h"
#include "common/base/ids.h"
#include "common/manifest/split.h"
#include "common/protocol/messages_fwd.h"
#include "decisions/jobs/book.h"
#include "decisions/trust/draw.h"

namespace weft::coordinator {

class HeldLeases {
 public:
  // `secret` makes the proofs of leases. `book` and `secret` must outlive this object.
  HeldLeases(jobs::Book& book, const trust::Secret& secret) : book_(book), secret_(secret) {}

  void lease(const PublicKey& worker, const protocol::Lease& lease);
  // Lets the worker store the states that a check asks for.
  void open_states(const PublicKey& worker, const protocol::OpenStates& asked);
  // The tasks that a worker reports after a reconnect. `held` are the tasks that it proves were
  // leased to it, and which it holds again; `unproven` are the other tasks.
  struct Resumed {
    std::vector<protocol::HeldTask> held;
    std::vector<protocol::HeldTask> unproven;  // Tasks without their proofs.
  };
  [[nodiscard]] Resumed resume(const PublicKey& worker, const protocol::Resume& shown);
  void drop(const TaskId& task, std::uint32_t attempt);

  // The range that the worker was leased of the task; an empty range stands for the whole task. No
  // value if the worker does not hold the attempt.
  [[nodiscard]] std::optional<manifest::Range> range(const TaskId& task,
                                                     std::uint32_t attempt) const;
  // True if the worker holds a lease of the work that the item reports.
  [[nodiscard]] bool covers(const protocol::ReceiptItem& item) const;

 private:
  // Allows the worker to store the outputs and checkpoints of a leased task.
  void allow_upload(const PublicKey& worker, const JobId& job, const protocol::LeasedTask& task);

  jobs::Book& book_;
  const trust::Secret& secret_;
  Guarded<std::map<std::pair<TaskId, std::uint32_t>, manifest::Range>> held_;
};

}  // namespace weft::coordinator
