// Reads the audit trail: transactions with the changes that they made to accounts, and a check that
// all balances follow from the transactions.
//
// Threading: one thread at a time, as Connection. Each call reads one state of the database. Fails
// with not_found for an unknown job, invalid_argument for a page that does not exist, data_loss for
// rows that contradict each other.
#pragma once

#include "platform/store/sqlite/connection.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

class MoneyReader {
 public:
  explicit MoneyReader(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<History> history(const ledger::Account& account,
                                        const Store::HistoryPage& page);
  [[nodiscard]] Result<History> history(const JobId& job, const Store::HistoryPage& page);
  [[nodiscard]] Result<History> history(const Store::HistoryPage& page);
  // Fails with data_loss, and names the first transaction, movement or account that is
  // inconsistent.
  [[nodiscard]] Result<> audit();

 private:
  struct Sums;
  [[nodiscard]] Result<> audit_transactions(Sums& sums);
  [[nodiscard]] Result<> audit_accounts(Sums& sums);

  Connection& connection_;
};

}  // namespace weft::store::sqlite
