// The data that must survive a restart of the coordinator: sqlite/ keeps the data in a file,
// memory/ is for tests. One writer.
//
// A batch fails as a whole with already_exists, not_found or insufficient_funds if it contradicts
// the stored data: a job id, transaction key, nonce, accepted task or replica that is stored
// already, a task of an unknown job, or a balance that would be negative. Any function fails with
// resource_exhausted if the disk is full, with data_loss if the file is damaged, and with internal
// for any other error. After data_loss or internal the store refuses further commits, because the
// caller's memory may differ from the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/records/records.h"
#include "common/records/transaction.h"

namespace weft::store {

// The change that a transaction made to one account, and the account's balance afterwards.
struct Movement {
  ledger::Account account;
  MicroCredits amount = 0;
  MicroCredits balance = 0;
  friend bool operator==(const Movement&, const Movement&) = default;
};
// A transaction with its movements: one for each account, in the order in which its entries name
// them.
struct Posted {
  std::string key;
  std::optional<JobId> job;
  std::string what;
  UnixMillis time = 0;
  std::vector<Movement> movements;
  friend bool operator==(const Posted&, const Posted&) = default;
};
struct History {
  std::vector<Posted> transactions;
  std::uint64_t next = 0;  // HistoryPage::from of the next page; 0: there is none.
};

// The owners of blobs: records whose rows name them (apps/coordinator/blob_sweep.h).
struct BlobOwners {
  std::vector<JobId> jobs;  // Jobs whose rows name blobs, in no order.
  std::vector<Hash> blobs;  // The hashes of the blobs of checkpoints and models.
};

class Store {
 public:
  virtual ~Store() = default;

  [[nodiscard]] virtual Result<Loaded> load() = 0;
  // Commits all batches in their order, or none of them; durable on return. `ready` (may be empty)
  // is called after all rows were written and before the commit. If it fails, no batch is stored.
  using Ready = std::function<Result<>()>;
  [[nodiscard]] virtual Result<> commit_all(std::span<const Batch> batches, const Ready& ready) = 0;
  [[nodiscard]] Result<> commit(const Batch& batch) { return commit_all(std::span(&batch, 1), {}); }

  // Reads are safe from any thread, also during a commit. Fails with not_found for an unknown job.
  [[nodiscard]] virtual Result<Job> job(const JobId& id) = 0;
  [[nodiscard]] virtual Result<std::vector<Task>> tasks(
      const JobId& id) = 0;  // Returns accepted tasks, by index.
  [[nodiscard]] virtual Result<std::vector<Replica>> replicas(
      const JobId& id) = 0;  // Returns replicas by index, then in the order of arrival.
  [[nodiscard]] virtual Result<std::vector<Receipt>> receipts(
      const JobId& id) = 0;  // Receipts that replicas of the job name, each once.
  // Returns `count` rows of evidence, oldest first, after skipping the first `from`; bounds:
  // records.h.
  [[nodiscard]] virtual Result<std::vector<Evidence>> evidence(std::size_t from,
                                                               std::size_t count) = 0;
  // Returns running and ended jobs, newest first: the first `count` that were created before
  // `before` (0: now), and all other jobs that were created in the same millisecond as the last one
  // of these, so that the next page skips no job.
  struct JobPage {
    std::optional<PublicKey> client;
    UnixMillis before = 0;
    std::uint32_t count = 100;
  };
  [[nodiscard]] virtual Result<std::vector<Job>> jobs(const JobPage& page) = 0;
  [[nodiscard]] virtual Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                                                  const SubmitNonce& nonce) = 0;
  // Returns the accepted tasks for which `worker` was paid and that were accepted from `since` to
  // `until`, of running jobs and of jobs that ended at `since` or later: the next `count` after
  // `after`, in a stable order.
  struct PaidPage {
    PublicKey worker;
    UnixMillis since = 0;
    UnixMillis until = 0;
    std::optional<TaskId> after;
    std::uint32_t count = 64;
  };
  [[nodiscard]] virtual Result<std::vector<Task>> paid_tasks(const PaidPage& page) = 0;
  // The corrections of a job, by task.
  [[nodiscard]] virtual Result<std::vector<Correction>> corrections(const JobId& id) = 0;
  // The number of accepted tasks of the job for each basis of acceptance.
  [[nodiscard]] virtual Result<BasisCounts> bases(const JobId& id) = 0;
  // The latest `count` checks of a job, or of a worker's results, in the order in which they were
  // made.
  [[nodiscard]] virtual Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count) = 0;
  [[nodiscard]] virtual Result<std::vector<Check>> checks(const PublicKey& worker,
                                                          std::uint32_t count) = 0;
  // The jobs that run, that ended at `ended_since` or later and still have their content, or that
  // have held pay; and the blobs of all checkpoints and models.
  [[nodiscard]] virtual Result<BlobOwners> blob_owners(UnixMillis ended_since) = 0;
  // A page of the audit trail. `from` is History::next of the previous page (0: the first page);
  // invalid_argument for any other number. The cost of a page does not depend on its position.
  struct HistoryPage {
    std::uint64_t from = 0;
    std::uint32_t count = 100;
  };
  // The transactions that touched `account`, newest first.
  [[nodiscard]] virtual Result<History> history(const ledger::Account& account,
                                                const HistoryPage& page) = 0;
  // The transactions of a job, from its escrow to its end, oldest first. Fails with not_found for
  // an unknown job.
  [[nodiscard]] virtual Result<History> history(const JobId& job, const HistoryPage& page) = 0;
  // The transactions of all accounts, oldest first.
  [[nodiscard]] virtual Result<History> history(const HistoryPage& page) = 0;
  // Recomputes all balances from all movements: each transaction must sum to zero, and each
  // account's balances must follow from one another and end in the stored one. Fails with
  // data_loss, and names the row, if they do not.
  [[nodiscard]] virtual Result<> audit() = 0;
};

}  // namespace weft::store
