// What must survive the coordinator: sqlite/ keeps it in a file, memory/ for tests. One writer.
//
// Errors: a batch that contradicts what is stored (a job id, transaction key, nonce, accepted task or replica that is there
// already, a task of an unknown job, a balance that would be negative) is already_exists, not_found or insufficient_funds
// and nothing of it is stored. A full disk is resource_exhausted, a damaged file data_loss, anything else internal; after
// those three the store refuses further commits, since what is in memory may no longer be what is on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "service/ledger/ledger.h"
#include "service/store/records.h"

namespace weft::store {

// What a coordinator needs to go on. Ended jobs are left out: they are read one by one (job(), tasks()).
struct Loaded {
  std::vector<Setting> settings;
  std::vector<Job> jobs;          // Running ones, in the order in which they were committed.
  std::vector<Task> tasks;        // Accepted tasks of running jobs, ordered by job as above, then index.
  std::vector<Replica> replicas;  // Counted replicas of their open tasks; ordered likewise, then as they arrived.
  std::vector<ledger::Entry> balances;
  std::vector<ledger::Ledger::AppliedKey> keys;  // Transactions of running jobs, and those without a job.
  std::vector<Reputation> reputations;
};

class Store {
 public:
  virtual ~Store() = default;

  [[nodiscard]] virtual Result<Loaded> load() = 0;
  // Durable when it returns: whole or not at all.
  [[nodiscard]] virtual Result<> commit(const Batch& batch) = 0;

  // Reads; safe from any thread, beside a commit. not_found where there is none.
  [[nodiscard]] virtual Result<Job> job(const JobId& id) = 0;
  [[nodiscard]] virtual Result<std::vector<Task>> tasks(const JobId& id) = 0;        // Accepted ones, by index.
  [[nodiscard]] virtual Result<std::vector<Replica>> replicas(const JobId& id) = 0;  // By index, then as they arrived.
  [[nodiscard]] virtual Result<Receipt> receipt(const Hash& digest) = 0;
  // Newest first, running and ended; at most `count` of those created before `before` (0: now).
  struct JobPage {
    std::optional<PublicKey> client;
    UnixMillis before = 0;
    std::uint32_t count = 100;
  };
  [[nodiscard]] virtual Result<std::vector<Job>> jobs(const JobPage& page) = 0;
  [[nodiscard]] virtual Result<std::optional<JobId>> job_of_nonce(const PublicKey& client, const SubmitNonce& nonce) = 0;
  // Transactions that touch `account`, newest first.
  [[nodiscard]] virtual Result<std::vector<Transaction>> transactions(const ledger::Account& account, std::uint32_t count) = 0;
  // Balances added up anew from every transaction ever; data_loss where they differ from the kept ones or from zero in sum.
  [[nodiscard]] virtual Result<> audit() = 0;
};

}  // namespace weft::store
