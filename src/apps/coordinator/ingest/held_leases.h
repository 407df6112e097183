// The tasks that one worker was given in its session, or has shown that it holds: nothing else of
// it is looked at, let alone stored. A lease also says what the worker may read and store
// (jobs::WorkerBlobs).
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
  // `secret`: for leases' proofs. Both outlive this.
  HeldLeases(jobs::Book& book, const trust::Secret& secret) : book_(book), secret_(secret) {}

  void lease(const PublicKey& worker, const protocol::Lease& lease);
  // What a worker says after a reconnect that it holds: `held` it was leased, and it holds that
  // again; the rest is `unproven`.
  struct Resumed {
    std::vector<protocol::HeldTask> held;
    std::vector<protocol::HeldTask> unproven;  // Without their proofs.
  };
  [[nodiscard]] Resumed resume(const PublicKey& worker, const protocol::Resume& shown);
  void drop(const TaskId& task, std::uint32_t attempt);

  // What the worker was leased of the task; an empty range stands for the whole. Nothing: it does
  // not hold the attempt.
  [[nodiscard]] std::optional<manifest::Range> range(const TaskId& task,
                                                     std::uint32_t attempt) const;
  // Whether the worker holds a lease of what the item says that it has done.
  [[nodiscard]] bool covers(const protocol::ReceiptItem& item) const;

 private:
  // What the worker may store for a lease: its outputs, and its states.
  void allow_upload(const PublicKey& worker, const JobId& job, const protocol::LeasedTask& task);

  jobs::Book& book_;
  const trust::Secret& secret_;
  Guarded<std::map<std::pair<TaskId, std::uint32_t>, manifest::Range>> held_;
};

}  // namespace weft::coordinator
