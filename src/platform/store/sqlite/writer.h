// Commits batches through the only connection that writes. This class runs the transaction; its
// parts write the rows, each with the prepared statements of its tables.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_numbers.h"
#include "platform/store/sqlite/job_writer.h"
#include "platform/store/sqlite/money_writer.h"
#include "platform/store/sqlite/record_writer.h"
#include "platform/store/sqlite/verdict_writer.h"

namespace weft::store::sqlite {

class Writer {
 public:
  // The database must be migrated already.
  [[nodiscard]] static Result<Writer> create(Connection connection);

  // Does the work of Store::commit_all().
  [[nodiscard]] Result<> commit(std::span<const Batch> batches,
                                const std::function<Result<>()>& ready);

 private:
  // The base of all parts. The parts refer to this object, so it lives on the heap: its address
  // stays the same when the Writer is moved.
  struct Base {
    Connection connection;
    JobNumbers numbers;
  };
  struct Work {
    Statement begin;
    Statement commit;
    Statement rollback;
  };
  struct Parts {
    JobWriter jobs;
    MoneyWriter money;
    RecordWriter records;
    VerdictWriter verdicts;
  };

  Writer(std::unique_ptr<Base> base, Work work, Parts parts)
      : base_(std::move(base)), work_(std::move(work)), parts_(std::move(parts)) {}

  Result<> write(std::span<const Batch> batches);
  Result<> write(const Batch& batch);
  void forget();

  std::unique_ptr<Base> base_;
  Work work_;
  Parts parts_;
  std::optional<Error> broken_;
};

}  // namespace weft::store::sqlite
