// Commits batches: the one connection that writes. What a batch holds is written by the parts, each
// with the prepared statements of its tables; this is the transaction around them.
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
  // The connection is migrated already.
  [[nodiscard]] static Result<Writer> create(Connection connection);

  // As Store::commit_all().
  [[nodiscard]] Result<> commit(std::span<const Batch> batches,
                                const std::function<Result<>()>& ready);

 private:
  // What the parts share; it stays in its place.
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
