#include "platform/store/sqlite/money_reader.h"

#include <unordered_map>

#include "platform/store/sqlite/query.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace {

// Reads transactions with their movements.
class Postings {
 public:
  static Result<Postings> create(Connection& connection) {
    Postings made;
    WEFT_ASSIGN(made.transaction_,
                connection.prepare("SELECT t.key, j.id, t.what, t.time, t.movement FROM "
                                   "transactions t LEFT JOIN jobs j ON j.seq = t.job "
                                   "WHERE t.seq = ?"));
    WEFT_ASSIGN(made.movements_, connection.prepare("SELECT account, seq, amount, balance FROM "
                                                    "movements WHERE number >= ? ORDER BY number"));
    WEFT_ASSIGN(made.account_, connection.prepare("SELECT kind, key FROM accounts WHERE id = ?"));
    return made;
  }

  Result<Posted> read(std::int64_t seq) {
    transaction_.start(seq);
    WEFT_ASSIGN(const bool there, transaction_.next());
    if (!there) return fail(ErrorCode::data_loss, "The transaction in row {} is missing.", seq);
    Posted posted{.key = transaction_.text(0),
                  .job = {},
                  .what = transaction_.text(2),
                  .time = transaction_.integer(3),
                  .movements = {}};
    if (!transaction_.is_null(1)) {
      WEFT_ASSIGN(posted.job, transaction_.fixed<JobId>(1));
    }
    movements_.start(transaction_.integer(4));
    transaction_.finish();
    for (;;) {
      WEFT_ASSIGN(const bool row, movements_.next());
      if (!row || movements_.integer(1) != seq) break;
      WEFT_ASSIGN(const ledger::Account account, name_of(movements_.integer(0)));
      posted.movements.push_back(
          {.account = account, .amount = movements_.integer(2), .balance = movements_.integer(3)});
    }
    movements_.finish();
    return posted;
  }

 private:
  Result<ledger::Account> name_of(std::int64_t row) {
    if (const auto known = names_.find(row); known != names_.end()) return known->second;
    account_.start(row);
    WEFT_ASSIGN(const bool found, account_.next());
    if (!found)
      return fail(ErrorCode::data_loss, "A movement names the account in row {}, which is missing.",
                  row);
    WEFT_ASSIGN(const ledger::Account account, account_of(account_, 0));
    account_.finish();
    return names_[row] = account;
  }

  Statement transaction_, movements_, account_;
  std::unordered_map<std::int64_t, ledger::Account> names_;
};

// Reads a page of the transactions that `find` selects. One more row is read, with which the next
// page begins.
Result<History> read_page(Connection& connection, Statement& find, std::uint32_t count) {
  History history;
  WEFT_ASSIGN(Postings postings, Postings::create(connection));
  for (;;) {
    WEFT_ASSIGN(const bool more, find.next());
    if (!more) return history;
    if (history.transactions.size() == count) {
      history.next = static_cast<std::uint64_t>(find.integer(0));
      return history;
    }
    WEFT_ASSIGN(Posted posted, postings.read(find.integer(0)));
    history.transactions.push_back(std::move(posted));
  }
}

}  // namespace

Result<History> MoneyReader::history(const ledger::Account& account,
                                     const Store::HistoryPage& page) {
  return on_one_state(connection_, [&]() -> Result<History> {
    History history;
    WEFT_ASSIGN(Statement find,
                connection_.prepare("SELECT id, last FROM accounts WHERE kind = ? AND key = ?"));
    find.start(static_cast<int>(account.kind), ByteSpan(account.id));
    WEFT_ASSIGN(const bool known, find.next());
    if (!known) return history;
    const std::int64_t id = find.integer(0);
    auto number = page.from == 0 ? find.integer(1) : static_cast<std::int64_t>(page.from);
    WEFT_ASSIGN(
        Statement movement,
        connection_.prepare("SELECT account, seq, previous FROM movements WHERE number = ?"));
    WEFT_ASSIGN(Postings postings, Postings::create(connection_));
    while (number != 0 && history.transactions.size() < page.count) {
      movement.start(number);
      WEFT_ASSIGN(const bool there, movement.next());
      if (!there || movement.integer(0) != id)
        return fail(ErrorCode::invalid_argument, "There is no page of {} that begins at {}.",
                    account.text(), number);
      number = movement.integer(2);
      WEFT_ASSIGN(Posted posted, postings.read(movement.integer(1)));
      history.transactions.push_back(std::move(posted));
    }
    history.next = static_cast<std::uint64_t>(number);
    return history;
  });
}

Result<History> MoneyReader::history(const JobId& job, const Store::HistoryPage& page) {
  return on_one_state(connection_, [&]() -> Result<History> {
    WEFT_ASSIGN(const std::int64_t row, job_row(connection_, job));
    WEFT_ASSIGN(
        Statement find,
        connection_.prepare(
            "SELECT seq FROM transactions WHERE job = ? AND seq >= ? ORDER BY seq LIMIT ?"));
    find.start(row, page.from, std::uint64_t{page.count} + 1);
    return read_page(connection_, find, page.count);
  });
}

Result<History> MoneyReader::history(const Store::HistoryPage& page) {
  return on_one_state(connection_, [&]() -> Result<History> {
    WEFT_ASSIGN(
        Statement find,
        connection_.prepare("SELECT seq FROM transactions WHERE seq >= ? ORDER BY seq LIMIT ?"));
    find.start(page.from, std::uint64_t{page.count} + 1);
    return read_page(connection_, find, page.count);
  });
}

struct MoneyReader::Sums {
  struct Kept {
    MicroCredits balance = 0;
    std::int64_t last = 0;
  };
  std::unordered_map<std::int64_t, Kept> accounts;  // The accounts, keyed by row.
};

Result<> MoneyReader::audit() {
  return on_one_state(connection_, [this]() -> Result<> {
    Sums sums;
    WEFT_OK(audit_transactions(sums));
    return audit_accounts(sums);
  });
}

Result<> MoneyReader::audit_transactions(Sums& sums) {
  WEFT_ASSIGN(Statement transactions,
              connection_.prepare("SELECT seq, key, movement FROM transactions ORDER BY seq"));
  WEFT_ASSIGN(
      Statement movements,
      connection_.prepare(
          "SELECT number, account, seq, amount, balance, previous FROM movements ORDER BY number"));
  movements.start();
  WEFT_ASSIGN(bool moved, movements.next());
  transactions.start();
  for (;;) {
    WEFT_ASSIGN(const bool row, transactions.next());
    if (!row) break;
    const std::int64_t seq = transactions.integer(0);
    if (moved && movements.integer(2) == seq && movements.integer(0) != transactions.integer(2))
      return fail(ErrorCode::data_loss,
                  "The movements of the transaction {} do not begin at the movement that the "
                  "transaction names.",
                  transactions.text(1));
    MicroCredits total = 0;
    while (moved && movements.integer(2) == seq) {
      Sums::Kept& account = sums.accounts[movements.integer(1)];
      account.balance += movements.integer(3);
      total += movements.integer(3);
      if (account.balance != movements.integer(4) || account.last != movements.integer(5))
        return fail(ErrorCode::data_loss,
                    "The movement {} of the transaction {} does not follow from the one before it.",
                    movements.integer(0), transactions.text(1));
      account.last = movements.integer(0);
      WEFT_ASSIGN(moved, movements.next());
    }
    if (total != 0)
      return fail(ErrorCode::data_loss, "The entries of the transaction {} sum to {}, not to 0.",
                  transactions.text(1), total);
  }
  if (moved)
    return fail(ErrorCode::data_loss, "The movement {} belongs to no transaction.",
                movements.integer(0));
  return {};
}

Result<> MoneyReader::audit_accounts(Sums& sums) {
  WEFT_ASSIGN(Statement kept,
              connection_.prepare("SELECT kind, key, id, balance, last FROM accounts"));
  kept.start();
  for (;;) {
    WEFT_ASSIGN(const bool row, kept.next());
    if (!row) return {};
    WEFT_ASSIGN(const ledger::Account account, account_of(kept, 0));
    const Sums::Kept expected = sums.accounts[kept.integer(2)];
    if (kept.integer(3) != expected.balance) {
      return fail(ErrorCode::data_loss, "The account {} holds {}; its transactions sum to {}.",
                  account.text(), kept.integer(3), expected.balance);
    }
    if (kept.integer(4) != expected.last)
      return fail(ErrorCode::data_loss, "The account {} does not end with its last movement.",
                  account.text());
  }
}

}  // namespace weft::store::sqlite
