#include "platform/store/sqlite/writer.h"

#include <algorithm>
#include <utility>

namespace weft::store::sqlite {
namespace {

// True for errors after which memory and disk may differ. After a full disk they do not: SQLite
// rolls the transaction back, and it may be tried again.
bool breaks(ErrorCode code) {
  return code == ErrorCode::data_loss || code == ErrorCode::internal ||
         code == ErrorCode::permission_denied;
}

}  // namespace

Result<Writer> Writer::create(Connection connection) {
  WEFT_ASSIGN(JobNumbers numbers, JobNumbers::create(connection));
  auto base = std::make_unique<Base>(std::move(connection), std::move(numbers));
  Work work;
  WEFT_ASSIGN(work.begin, base->connection.prepare("BEGIN IMMEDIATE"));
  WEFT_ASSIGN(work.commit, base->connection.prepare("COMMIT"));
  WEFT_ASSIGN(work.rollback, base->connection.prepare("ROLLBACK"));
  WEFT_ASSIGN(auto jobs, JobWriter::create(base->connection, base->numbers));
  WEFT_ASSIGN(auto money, MoneyWriter::create(base->connection, base->numbers));
  WEFT_ASSIGN(auto records, RecordWriter::create(base->connection, base->numbers));
  WEFT_ASSIGN(auto verdicts, VerdictWriter::create(base->connection, base->numbers));
  return Writer(std::move(base), std::move(work),
                {.jobs = std::move(jobs),
                 .money = std::move(money),
                 .records = std::move(records),
                 .verdicts = std::move(verdicts)});
}

Result<> Writer::commit(std::span<const Batch> batches, const std::function<Result<>()>& ready) {
  if (broken_) return std::unexpected(*broken_);
  if (std::ranges::all_of(batches, &Batch::empty)) return ready ? ready() : Result<>();
  WEFT_OK(work_.begin.run());
  Result<> result = write(batches);
  const bool written = result.has_value();
  if (written && ready) result = ready();
  const bool is_ready = result.has_value();
  if (is_ready) result = work_.commit.run();
  if (result) return result;

  (void)work_.rollback.run();  // Fails if SQLite has rolled back itself.
  forget();
  // The error of `ready` says nothing about this database.
  const bool by_ready = written && !is_ready;
  if (!by_ready && breaks(result.error().code)) {
    broken_ = result.error();
    broken_->message += " Nothing more is written until the coordinator is started again.";
  }
  return result;
}

void Writer::forget() {
  base_->numbers.forget();
  parts_.jobs.forget();
  parts_.money.forget();
}

Result<> Writer::write(std::span<const Batch> batches) {
  for (const Batch& batch : batches) WEFT_OK(write(batch));
  WEFT_OK(parts_.jobs.flush());
  for (const Batch& batch : batches) {
    for (const PublicKey& client : batch.clients_forgotten)
      WEFT_OK(parts_.jobs.forget_client(client));
  }
  return parts_.money.flush();
}

Result<> Writer::write(const Batch& batch) {
  WEFT_OK(parts_.jobs.write(batch));
  for (const Transaction& transaction : batch.transactions)
    WEFT_OK(parts_.money.write(transaction));
  WEFT_OK(parts_.records.write(batch));
  return parts_.verdicts.write(batch);
}

}  // namespace weft::store::sqlite
