// Writes jobs, and what workers handed in for their tasks.
//
// Threading: as Connection. Errors: already_exists for a row that is there already, not_found for a
// job that is not stored. After any error forget() is due.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_numbers.h"

namespace weft::store::sqlite {

class JobWriter {
 public:
  // Both outlive it.
  [[nodiscard]] static Result<JobWriter> create(Connection& connection, JobNumbers& numbers);

  [[nodiscard]] Result<> write(const Batch& batch);
  // What the batches say of jobs as a whole: each row is written once. The batches outlive it.
  [[nodiscard]] Result<> flush();
  // The client's jobs that have ended lose what it wrote in them.
  [[nodiscard]] Result<> forget_client(const PublicKey& client);
  // The batch was rolled back: nothing that is known here holds any more.
  void forget();

 private:
  enum Sql : std::size_t {
    insert_job,
    insert_nonce,
    insert_receipt,
    find_receipt,
    insert_replica,
    insert_task,
    set_progress,
    set_end,
    forget_jobs,
    sql_count,
  };
  static const std::array<const char*, sql_count> texts;
  static constexpr std::size_t receipts_cached_max = 100'000;
  struct JobChange {
    std::uint32_t accepted = 0;
    const JobUpdate::Price* price = nullptr;
    const JobUpdate::End* end = nullptr;
  };

  JobWriter(Connection& connection, JobNumbers& numbers,
            std::array<Statement, sql_count> statements)
      : connection_(connection), numbers_(numbers), statements_(std::move(statements)) {}

  Result<> write(const Job& job);
  Result<> write(const Nonce& nonce);
  Result<> write(const Receipt& receipt);
  Result<> write(const Replica& replica);
  Result<> write(const Task& task);
  Result<> write(const JobUpdate& update);
  Result<std::int64_t> receipt_row(const Hash& digest);  // 0: there is none.

  Connection& connection_;
  JobNumbers& numbers_;
  std::array<Statement, sql_count> statements_;
  std::map<std::int64_t, JobChange> changes_;            // By jobs' numbers.
  std::unordered_map<Hash, std::int64_t> receipt_rows_;  // That were written lately.
};

}  // namespace weft::store::sqlite
