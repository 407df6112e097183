// Writes jobs and the results that workers submitted for their tasks.
//
// Threading: one thread at a time, as Connection. Fails with already_exists for a row that is
// stored already, not_found for a job that is not stored. After any error forget() must be called.
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
  // `connection` and `numbers` must outlive the writer.
  [[nodiscard]] static Result<JobWriter> create(Connection& connection, JobNumbers& numbers);

  [[nodiscard]] Result<> write(const Batch& batch);
  // Writes the changes of whole jobs, each row once. The batches must outlive this call.
  [[nodiscard]] Result<> flush();
  // Removes the texts that the client wrote in its ended jobs.
  [[nodiscard]] Result<> forget_client(const PublicKey& client);
  // Called after a batch was rolled back: drops all cached changes and rows.
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
  Result<std::int64_t> receipt_row(const Hash& digest);  // 0 if there is no such receipt.

  Connection& connection_;
  JobNumbers& numbers_;
  std::array<Statement, sql_count> statements_;
  std::map<std::int64_t, JobChange> changes_;            // The changes, keyed by the job's number.
  std::unordered_map<Hash, std::int64_t> receipt_rows_;  // The row numbers of recent receipts.
};

}  // namespace weft::store::sqlite
