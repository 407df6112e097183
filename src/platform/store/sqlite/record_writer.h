// Writes the records other than jobs, money and verdicts: those about workers, owners, models, and
// the prices that quotes are based on.
//
// Threading: one thread at a time, as Connection. Fails with already_exists for the secret of
// another API key, not_found for a job that is not stored.
#pragma once

#include <array>

#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_numbers.h"

namespace weft::store::sqlite {

class RecordWriter {
 public:
  // `connection` and `numbers` must outlive the writer.
  [[nodiscard]] static Result<RecordWriter> create(Connection& connection, JobNumbers& numbers);

  [[nodiscard]] Result<> write(const Batch& batch);

 private:
  enum Sql : std::size_t {
    put_secret,
    put_reputation,
    put_standing,
    put_client_share,
    remove_client_share,
    put_mismatch,
    remove_mismatch,
    put_weight_sum,
    remove_weight_sum,
    put_watch,
    put_faults,
    remove_faults,
    put_client_weight,
    put_api_key,
    remove_api_key,
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
    sql_count,
  };
  static const std::array<const char*, sql_count> texts;

  RecordWriter(JobNumbers& numbers, std::array<Statement, sql_count> statements)
      : numbers_(numbers), statements_(std::move(statements)) {}

  Result<> write_trust(const Batch& batch);
  Result<> write_owners(const Batch& batch);
  Result<> write_workers(const Batch& batch);
  Result<> write_market(const Batch& batch);
  Result<> write(const ApiKey& key);
  Result<> write(const Changed<Checkpoint>& changed);
  Result<> write(const Changed<HeldPay>& changed);
  Result<> write(const Changed<Presence>& changed);
  Result<> write(const Changed<Model>& changed);

  JobNumbers& numbers_;
  std::array<Statement, sql_count> statements_;
};

}  // namespace weft::store::sqlite
