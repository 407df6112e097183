// Everything that is read: on a connection of its own, so that pages do not wait for commits.
#pragma once

#include <optional>

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

class Reader {
 public:
  explicit Reader(Connection connection) : connection_(std::move(connection)) {}

  [[nodiscard]] Result<Loaded> load();
  [[nodiscard]] Result<Job> job(const JobId& id);
  [[nodiscard]] Result<std::vector<Task>> tasks(const JobId& id);
  [[nodiscard]] Result<std::vector<Replica>> replicas(const JobId& id);
  [[nodiscard]] Result<std::vector<Receipt>> receipts(const JobId& id);
  [[nodiscard]] Result<std::vector<Job>> jobs(const Store::JobPage& page);
  [[nodiscard]] Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                                          const SubmitNonce& nonce);
  [[nodiscard]] Result<BlobOwners> blob_owners(UnixMillis ended_since);
  [[nodiscard]] Result<History> history_of_account(const ledger::Account& account,
                                                   const Store::HistoryPage& page);
  [[nodiscard]] Result<History> history_of_job(const JobId& job, const Store::HistoryPage& page);
  [[nodiscard]] Result<History> history_of_all(const Store::HistoryPage& page);
  [[nodiscard]] Result<> audit();
  // verdicts.cpp
  [[nodiscard]] Result<std::vector<Task>> paid_tasks(const Store::PaidPage& page);
  [[nodiscard]] Result<std::vector<Correction>> corrections(const JobId& id);
  [[nodiscard]] Result<BasisCounts> bases(const JobId& id);
  [[nodiscard]] Result<std::vector<Evidence>> evidence(std::size_t from, std::size_t count);
  [[nodiscard]] Result<std::vector<Check>> checks_of_job(const JobId& id, std::uint32_t count);
  [[nodiscard]] Result<std::vector<Check>> checks_of_worker(const PublicKey& worker,
                                                            std::uint32_t count);

 private:
  // Runs `use` on one state of the database.
  template <class Use>
  auto snapshot(Use use) -> decltype(use()) {
    WEFT_OK(connection_.execute("BEGIN"));
    auto result = use();
    (void)connection_.execute("COMMIT");  // Nothing was written.
    return result;
  }
  Result<Loaded> load_all();
  Result<> load_running(Loaded& loaded);
  Result<> load_money(Loaded& loaded);
  Result<> load_workers(Loaded& loaded);
  Result<> load_others(Loaded& loaded);
  Result<> load_market(Loaded& loaded);
  Result<> load_held(Loaded& loaded);
  Result<> load_verdicts(Loaded& loaded);
  Result<> audit_all();
  Result<std::int64_t> job_row(const JobId& id);

  Connection connection_;
  std::optional<Statement> find_nonce_;  // Once it was asked for.
};

}  // namespace weft::store::sqlite
