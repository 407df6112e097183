// What must survive the coordinator: sqlite/ keeps it in a file, memory/ for tests. One writer.
//
// Errors: a batch that contradicts what is stored (a job id, transaction key, nonce, accepted task
// or replica that is there already, a task of an unknown job, a balance that would be negative) is
// already_exists, not_found or insufficient_funds and no part of it is stored. A full disk is
// resource_exhausted, a damaged file data_loss, anything else internal; after those three the store
// refuses further commits, since what is in memory may no longer be what is on disk.
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

// What a transaction did to one account, and what that held afterwards.
struct Movement {
  ledger::Account account;
  MicroCredits amount = 0;
  MicroCredits balance = 0;
  friend bool operator==(const Movement&, const Movement&) = default;
};
// A transaction with what became of it: one movement an account, in the order in which its entries
// name them.
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
  std::uint64_t next = 0;  // HistoryPage::from of what follows; 0: that was all.
};

// Whose rows name blobs (apps/coordinator/blob_sweep.h).
struct BlobOwners {
  std::vector<JobId> jobs;  // Their rows, tasks, replicas and receipts name blobs. In no order.
  std::vector<Hash> blobs;  // Those of checkpoints and models.
};

class Store {
 public:
  virtual ~Store() = default;

  [[nodiscard]] virtual Result<Loaded> load() = 0;
  // Durable when it returns: all of them, each after the one before, or none at all. `ready` (may
  // be empty) is asked when everything is written but for the commit itself; where it fails nothing
  // is stored.
  using Ready = std::function<Result<>()>;
  [[nodiscard]] virtual Result<> commit_all(std::span<const Batch> batches, const Ready& ready) = 0;
  [[nodiscard]] Result<> commit(const Batch& batch) { return commit_all(std::span(&batch, 1), {}); }

  // Reads; safe from any thread, beside a commit. not_found if there is none.
  [[nodiscard]] virtual Result<Job> job(const JobId& id) = 0;
  [[nodiscard]] virtual Result<std::vector<Task>> tasks(
      const JobId& id) = 0;  // Accepted ones, by index.
  [[nodiscard]] virtual Result<std::vector<Replica>> replicas(
      const JobId& id) = 0;  // By index, then as they arrived.
  [[nodiscard]] virtual Result<std::vector<Receipt>> receipts(
      const JobId& id) = 0;  // Those that its replicas name, each once.
  // Oldest first, `count` of them behind the first `from`; within the bounds of records.h.
  [[nodiscard]] virtual Result<std::vector<Evidence>> evidence(std::size_t from,
                                                               std::size_t count) = 0;
  // Newest first, running and ended: `count` of those created before `before` (0: now), and those
  // of the same millisecond as the last of these, so that pages from there on skip none.
  struct JobPage {
    std::optional<PublicKey> client;
    UnixMillis before = 0;
    std::uint32_t count = 100;
  };
  [[nodiscard]] virtual Result<std::vector<Job>> jobs(const JobPage& page) = 0;
  [[nodiscard]] virtual Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                                                  const SubmitNonce& nonce) = 0;
  // Accepted tasks that `worker` was paid for, accepted from `since` to `until`, of running jobs
  // and of those that ended at `since` or later: the next `count` after `after`, in an order that
  // stays.
  struct PaidPage {
    PublicKey worker;
    UnixMillis since = 0;
    UnixMillis until = 0;
    std::optional<TaskId> after;
    std::uint32_t count = 64;
  };
  [[nodiscard]] virtual Result<std::vector<Task>> paid_tasks(const PaidPage& page) = 0;
  // A job's, by task.
  [[nodiscard]] virtual Result<std::vector<Correction>> corrections(const JobId& id) = 0;
  // How many accepted tasks of the job rest on what.
  [[nodiscard]] virtual Result<BasisCounts> bases(const JobId& id) = 0;
  // Those of a job, or of a worker's results, as they were made; the latest `count`.
  [[nodiscard]] virtual Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count) = 0;
  [[nodiscard]] virtual Result<std::vector<Check>> checks(const PublicKey& worker,
                                                          std::uint32_t count) = 0;
  // Jobs that run, that ended at `ended_since` or later and have their content, or of whose tasks
  // pay is held; all checkpoints and models.
  [[nodiscard]] virtual Result<BlobOwners> blob_owners(UnixMillis ended_since) = 0;
  // The audit trail, a page at a time. `from` is History::next of the page before (0: the first
  // page); invalid_argument for any other number. A page costs the same wherever it is.
  struct HistoryPage {
    std::uint64_t from = 0;
    std::uint32_t count = 100;
  };
  // What touched `account`, newest first.
  [[nodiscard]] virtual Result<History> history(const ledger::Account& account,
                                                const HistoryPage& page) = 0;
  // What a job moved, from its escrow to its end, oldest first. not_found for an unknown job.
  [[nodiscard]] virtual Result<History> history(const JobId& job, const HistoryPage& page) = 0;
  // All of it, oldest first.
  [[nodiscard]] virtual Result<History> history(const HistoryPage& page) = 0;
  // Adds everything up again from every movement ever: each transaction sums to zero, each
  // account's balances follow from one another and end in the kept one. data_loss, with the place,
  // where that is not so.
  [[nodiscard]] virtual Result<> audit() = 0;
};

}  // namespace weft::store
