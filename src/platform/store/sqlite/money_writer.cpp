#include "platform/store/sqlite/money_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "platform/store/sqlite/statements.h"

namespace weft::store::sqlite {

const std::array<const char*, MoneyWriter::sql_count> MoneyWriter::texts = {
    "INSERT INTO transactions (key, job, what, time, movement) VALUES (?, ?, ?, ?, ?)",
    "INSERT INTO movements VALUES (?, ?, ?, ?, ?, ?)",
};

Result<MoneyWriter> MoneyWriter::create(Connection& connection, JobNumbers& numbers) {
  WEFT_ASSIGN(auto statements, prepare_all(connection, texts));
  WEFT_ASSIGN(AccountRows accounts, AccountRows::create(connection));
  MoneyWriter writer(connection, numbers, std::move(statements), std::move(accounts));
  WEFT_ASSIGN(Statement latest,
              connection.prepare("SELECT coalesce(max(number), 0) FROM movements"));
  latest.start();
  WEFT_ASSIGN(const bool row, latest.next());
  if (row) writer.movement_ = latest.integer(0);
  return writer;
}

Result<> MoneyWriter::write(const Transaction& transaction) {
  const ledger::Transaction& what = transaction.transaction;
  std::vector<ledger::Entry> changes;  // One change for each account, in the order of the entries.
  MicroCredits total = 0;
  for (const ledger::Entry& entry : what.entries) {
    const auto known = std::ranges::find(changes, entry.account, &ledger::Entry::account);
    if (known == changes.end()) {
      changes.push_back(entry);
    } else {
      known->amount += entry.amount;
    }
    total += entry.amount;
  }
  if (total != 0)
    return fail(ErrorCode::invalid_argument,
                "The entries of the transaction {} sum to {}, not to 0.", what.key, total);

  const auto insert = [&](const auto& job) {
    return naming(statements_[insert_transaction].run(what.key, job, what.what, transaction.time,
                                                      movement_ + 1),
                  [&] { return weft::format("The transaction {} is stored already.", what.key); });
  };
  if (what.job) {
    WEFT_ASSIGN(const std::int64_t job, numbers_.of(*what.job));
    WEFT_OK(insert(job));
  } else {
    WEFT_OK(insert(nullptr));
  }
  const std::int64_t row = connection_.last_row();
  for (const ledger::Entry& change : changes) {
    const std::int64_t number = ++movement_;
    auto moved = accounts_.move(change.account, change.amount, number);
    if (!moved) return pass(std::move(moved), "while writing the transaction {}", what.key);
    WEFT_OK(statements_[insert_movement].run(number, moved->account, row, change.amount,
                                             moved->balance, moved->previous));
  }
  return {};
}

}  // namespace weft::store::sqlite
