// The accounts as the database will have them when the batch that is being written is committed. A
// batch may move money on an account many times; its row is written once, by flush().
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
    std::int64_t account = 0;   // Its row.
    std::int64_t previous = 0;  // The movement before this one; 0: none.
    MicroCredits balance = 0;   // After it.
  };
  // Adds `amount` by the movement `number`. insufficient_funds where the balance would be negative,
  // but for the mint's. After any error forget() is due.
  [[nodiscard]] Result<Moved> move(const ledger::Account& account, MicroCredits amount,
                                   std::int64_t number);
  // Writes what moved since the last flush. Before the commit.
  [[nodiscard]] Result<> flush();
  // The batch was rolled back: nothing that is known here holds any more.
  void forget();

 private:
  struct Row {
    std::int64_t id = 0;
    std::int64_t last = 0;  // Its latest movement.
    MicroCredits balance = 0;
    bool stored = false;
    bool changed = false;
  };
  Result<Row*> find(const ledger::Account& account);

  Statement find_;
  Statement insert_;
  Statement update_;
  std::unordered_map<ledger::Account, Row> rows_;
  std::vector<ledger::Account> changed_;  // In the order in which they first moved.
  std::int64_t latest_id_ = 0;            // Ids of a batch that is rolled back stay unused.
};

}  // namespace weft::store::sqlite
