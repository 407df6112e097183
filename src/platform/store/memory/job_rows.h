// Jobs with their accepted tasks and replicas, the nonces of their submissions and receipts.
//
// Not safe to share between threads. Errors: not_found for an unknown job, already_exists for a row
// that is stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "platform/store/memory/undo_log.h"
#include "platform/store/store.h"

namespace weft::store::memory {

struct JobRow {
  Job job;
  std::map<std::uint32_t, Task> tasks;
  std::map<std::uint32_t, std::vector<Replica>> replicas;  // As they arrived.
};

class JobRows {
 public:
  explicit JobRows(UndoLog& undo) : undo_(undo) {}

  // Jobs, nonces, receipts, replicas, tasks and what jobs have come to, in this order.
  [[nodiscard]] Result<> write(const Batch& batch);
  // What an accepted task came to after it was corrected. Nothing for a task that is not accepted.
  [[nodiscard]] Result<> correct(const Task& task);
  // Ended jobs of these clients keep their numbers and lose their texts.
  void forget_clients(const Batch& batch);

  // not_found for an unknown job.
  [[nodiscard]] Result<JobRow*> row_of(const JobId& id);
  // The job is stored.
  [[nodiscard]] const JobRow& at(const JobId& id) const { return rows_.at(id); }
  // As they came.
  [[nodiscard]] const std::vector<JobId>& order() const { return order_; }
  [[nodiscard]] const std::map<JobId, JobRow>& all() const { return rows_; }

  void load(Loaded& loaded) const;
  [[nodiscard]] Result<Job> job(const JobId& id) const;
  [[nodiscard]] std::vector<Receipt> receipts(const JobRow& row) const;
  [[nodiscard]] std::vector<Job> jobs(const Store::JobPage& page) const;
  [[nodiscard]] std::optional<JobId> job_of_nonce(const PublicKey& client,
                                                  const SubmitNonce& nonce) const;
  [[nodiscard]] std::vector<Task> paid_tasks(const Store::PaidPage& page) const;

 private:
  [[nodiscard]] Result<> write(const Job& job);
  [[nodiscard]] Result<> write(const Nonce& nonce);
  [[nodiscard]] Result<> write(const Replica& replica);
  [[nodiscard]] Result<> write(const Task& task);
  [[nodiscard]] Result<> write(const JobUpdate& update);

  UndoLog& undo_;
  std::map<JobId, JobRow> rows_;
  std::vector<JobId> order_;
  std::map<std::pair<PublicKey, SubmitNonce>, JobId> nonces_;
  std::map<Hash, Receipt> receipts_;
};

}  // namespace weft::store::memory
