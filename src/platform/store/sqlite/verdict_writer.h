// Writes the decisions about results: checks, corrections and evidence.
//
// Threading: one thread at a time, as Connection. Fails with not_found for a job that is not
// stored.
#pragma once

#include <array>

#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_numbers.h"

namespace weft::store::sqlite {

class VerdictWriter {
 public:
  // `connection` and `numbers` must outlive the writer.
  [[nodiscard]] static Result<VerdictWriter> create(Connection& connection, JobNumbers& numbers);

  [[nodiscard]] Result<> write(const Batch& batch);

 private:
  enum Sql : std::size_t {
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

  VerdictWriter(JobNumbers& numbers, std::array<Statement, sql_count> statements)
      : numbers_(numbers), statements_(std::move(statements)) {}

  Result<> write(const Evidence& evidence);

  JobNumbers& numbers_;
  std::array<Statement, sql_count> statements_;
};

}  // namespace weft::store::sqlite
