// The accounts as they will be in the database after the commit of the batch that is being written.
// A batch may move credits on an account many times; flush() writes the account's row once.
#pragma once

#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/records/account.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

class AccountRows {
 public:
  AccountRows() = default;
  [[nodiscard]] static Result<AccountRows> create(Connection& connection);

  struct Moved {
    std::int64_t account = 0;   // The row of the account.
    std::int64_t previous = 0;  // The account's previous movement; 0 if there is none.
    MicroCredits balance = 0;   // The balance after the movement.
  };
  // Adds `amount` to the account as the movement `number`. Fails with insufficient_funds if the
  // balance would be negative, unless the account is the mint. After any error forget() must be
  // called.
  [[nodiscard]] Result<Moved> move(const ledger::Account& account, MicroCredits amount,
                                   std::int64_t number);
  // Writes the accounts that changed since the last flush. Called before the commit.
  [[nodiscard]] Result<> flush();
  // Called after a batch was rolled back: drops all cached rows, because they may be wrong.
  void forget();

 private:
  struct Row {
    std::int64_t id = 0;
    std::int64_t last = 0;  // The number of the account's latest movement.
    MicroCredits balance = 0;
    bool stored = false;
    bool changed = false;
  };
  Result<Row*> find(const ledger::Account& account);

  Statement find_;
  Statement insert_;
  Statement update_;
  std::unordered_map<ledger::Account, Row> rows_;
  std::vector<ledger::Account> changed_;  // Accounts in the order of their first change.
  std::int64_t latest_id_ = 0;            // Ids of a rolled back batch stay unused.
};

}  // namespace weft::store::sqlite
