#include "platform/store/sqlite/account_rows.h"

#include <utility>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t rows_cached_max = 100'000;

}  // namespace

Result<AccountRows> AccountRows::create(Connection& connection) {
  AccountRows accounts;
  WEFT_ASSIGN(
      accounts.find_,
      connection.prepare("SELECT id, last, balance FROM accounts WHERE kind = ? AND key = ?"));
  WEFT_ASSIGN(accounts.insert_,
              connection.prepare(
                  "INSERT INTO accounts (id, kind, key, balance, last) VALUES (?, ?, ?, ?, ?)"));
  WEFT_ASSIGN(accounts.update_,
              connection.prepare("UPDATE accounts SET balance = ?, last = ? WHERE id = ?"));
  WEFT_ASSIGN(Statement latest, connection.prepare("SELECT coalesce(max(id), 0) FROM accounts"));
  latest.start();
  WEFT_ASSIGN(const bool row, latest.next());
  if (row) accounts.latest_id_ = latest.integer(0);
  return accounts;
}

Result<AccountRows::Row*> AccountRows::find(const ledger::Account& account) {
  if (const auto known = rows_.find(account); known != rows_.end()) return &known->second;
  if (rows_.size() >= rows_cached_max) {
    WEFT_OK(flush());
    rows_.clear();
  }
  find_.start(static_cast<int>(account.kind), ByteSpan(account.id));
  WEFT_ASSIGN(const bool stored, find_.next());
  const Row row = stored ? Row{.id = find_.integer(0),
                               .last = find_.integer(1),
                               .balance = find_.integer(2),
                               .stored = true,
                               .changed = false}
                         : Row{.id = ++latest_id_};
  find_.finish();
  return &rows_.emplace(account, row).first->second;
}

Result<AccountRows::Moved> AccountRows::move(const ledger::Account& account, MicroCredits amount,
                                             std::int64_t number) {
  WEFT_ASSIGN(Row* const row, find(account));
  MicroCredits balance = 0;
  const bool overflow = __builtin_add_overflow(row->balance, amount, &balance);
  if (overflow)
    return fail(ErrorCode::invalid_argument, "The balance of the account {} would overflow.",
                account.text());
  if (balance < 0 && account.kind != ledger::Account::Kind::mint) {
    return fail(ErrorCode::insufficient_funds,
                "The account {} holds {} micro-credits, less than {}.", account.text(),
                row->balance, -amount);
  }
  row->balance = balance;
  if (!std::exchange(row->changed, true)) changed_.push_back(account);
  return Moved{
      .account = row->id, .previous = std::exchange(row->last, number), .balance = balance};
}

Result<> AccountRows::flush() {
  for (const auto& account : std::exchange(changed_, {})) {
    Row& row = rows_.at(account);
    if (row.stored) {
      WEFT_OK(update_.run(row.balance, row.last, row.id));
    } else {
      WEFT_OK(insert_.run(row.id, static_cast<int>(account.kind), ByteSpan(account.id), row.balance,
                          row.last));
    }
    row.stored = true;
    row.changed = false;
  }
  return {};
}

void AccountRows::forget() {
  changed_.clear();
  rows_.clear();
}

}  // namespace weft::store::sqlite
