// Writes transactions of the ledger and the balances that follow from them.
//
// Threading: one thread at a time, as Connection. Fails with already_exists for a transaction that
// is stored already, invalid_argument for entries that do not sum to 0, and as AccountRows::move()
// does. After any error forget() must be called.
#pragma once

#include <array>
#include <cstdint>

#include "common/base/result.h"
#include "common/records/records.h"
#include "platform/store/sqlite/account_rows.h"
#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_numbers.h"

namespace weft::store::sqlite {

class MoneyWriter {
 public:
  // `connection` and `numbers` must outlive the writer.
  [[nodiscard]] static Result<MoneyWriter> create(Connection& connection, JobNumbers& numbers);

  [[nodiscard]] Result<> write(const Transaction& transaction);
  // Writes the balances. Called before the commit.
  [[nodiscard]] Result<> flush() { return accounts_.flush(); }
  // Called after a batch was rolled back: drops all cached accounts.
  void forget() { accounts_.forget(); }

 private:
  enum Sql : std::size_t {
    insert_transaction,
    insert_movement,
    sql_count,
  };
  static const std::array<const char*, sql_count> texts;

  MoneyWriter(Connection& connection, JobNumbers& numbers,
              std::array<Statement, sql_count> statements, AccountRows accounts)
      : connection_(connection),
        numbers_(numbers),
        statements_(std::move(statements)),
        accounts_(std::move(accounts)) {}

  Connection& connection_;
  JobNumbers& numbers_;
  std::array<Statement, sql_count> statements_;
  AccountRows accounts_;
  std::int64_t movement_ = 0;  // The latest number; those of a rolled back batch stay unused.
};

}  // namespace weft::store::sqlite
