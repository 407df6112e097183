// Commits batches: the one connection that writes, with its prepared statements.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/account_rows.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

class Writer {
 public:
  // The connection is migrated already.
  [[nodiscard]] static Result<Writer> create(Connection connection);

  // As Store::commit_all().
  [[nodiscard]] Result<> commit(std::span<const Batch> batches,
                                const std::function<Result<>()>& ready);

 private:
  enum Sql : std::size_t {
    begin_work,
    commit_work,
    rollback_work,
    put_secret,
    insert_job,
    find_job,
    insert_nonce,
    insert_receipt,
    find_receipt,
    insert_replica,
    insert_task,
    set_progress,
    set_end,
    insert_transaction,
    insert_movement,
    put_reputation,
    put_standing,
    put_client_share,
    remove_client_share,
    put_mismatch,
    remove_mismatch,
    put_watch,
    put_faults,
    remove_faults,
    put_client_weight,
    put_api_key,
    put_device,
    put_checkpoint,
    remove_checkpoint,
    put_presence,
    remove_presence,
    put_model,
    remove_model,
    put_pace,
    remove_pace,
    put_season,
    put_held_pay,
    remove_held_pay,
    remove_api_key,
    forget_jobs,
    correct_task,
    put_recheck,
    remove_recheck,
    put_correction,
    insert_check,
    insert_evidence,
    forget_evidence,
    forget_checks,
    sql_count,
  };
  static const std::array<const char*, sql_count> texts;

  explicit Writer(Connection connection) : connection_(std::move(connection)) {}

  Result<> write(std::span<const Batch> batches);
  Result<> write(const Batch& batch);
  Result<> write(const Job& job);
  Result<> write(const Nonce& nonce);
  Result<> write(const Receipt& receipt);
  Result<> write(const Evidence& evidence);
  Result<> write(const Replica& replica);
  Result<> write(const Task& task);
  Result<> write(const JobUpdate& update);
  Result<> write(const Transaction& transaction);
  Result<> write_records(const Batch& batch);
  Result<> write(const ApiKey& key);
  Result<> write(const Changed<Checkpoint>& changed);
  Result<> write(const Changed<Presence>& changed);
  Result<> write(const Changed<Model>& changed);
  Result<> write(const Changed<HeldPay>& changed);
  Result<> write_market(const Batch& batch);
  Result<> write_verdicts(const Batch& batch);
  Result<> write_job_changes();
  Result<std::int64_t> job_row(const JobId& job);
  Result<std::int64_t> receipt_row(const Hash& digest);  // 0: there is none.

  Connection connection_;
  std::array<Statement, sql_count> statements_;
  AccountRows accounts_;
  // What the batch says of jobs, by their rows: each row is written once.
  struct JobChange {
    std::uint32_t accepted = 0;
    const JobUpdate::Price* price = nullptr;
    const JobUpdate::End* end = nullptr;
  };
  std::map<std::int64_t, JobChange> job_changes_;
  // What was looked up lately; dropped whenever a batch is rolled back, since it may hold rows of
  // that batch.
  std::unordered_map<JobId, std::int64_t> job_rows_;
  std::unordered_map<Hash, std::int64_t> receipt_rows_;
  std::int64_t movement_ = 0;  // The latest; numbers of a batch that is rolled back stay unused.
  std::optional<Error> broken_;
};

}  // namespace weft::store::sqlite
