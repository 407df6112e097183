// The jobs in memory, with their accepted tasks and replicas, the nonces of their submissions and
// their receipts.
//
// Not safe to share between threads. Fails with not_found for an unknown job, already_exists for a
// row that is stored already.
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
  // Replicas of each task in the order of arrival.
  std::map<std::uint32_t, std::vector<Replica>> replicas;
};

class JobRows {
 public:
  explicit JobRows(UndoLog& undo) : undo_(undo) {}

  // Writes the batch's jobs, nonces, receipts, replicas, tasks and new job states, in this order.
  [[nodiscard]] Result<> write(const Batch& batch);
  // Replaces the result of an accepted task by its corrected one. Does nothing for a task that is
  // not accepted.
  [[nodiscard]] Result<> correct(const Task& task);
  // Removes the texts of the ended jobs of the clients in Batch::clients_forgotten; numbers are
  // kept.
  void forget_clients(const Batch& batch);

  // Fails with not_found for an unknown job.
  [[nodiscard]] Result<JobRow*> row_of(const JobId& id);
  // The job must be stored.
  [[nodiscard]] const JobRow& at(const JobId& id) const { return rows_.at(id); }
  // The ids of all jobs in the order in which they were stored.
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
