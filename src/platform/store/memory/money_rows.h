// Transactions and the balances that follow from them.
//
// Not safe to share between threads. A history's page is numbered by its first transaction's place,
// from 1.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/store/memory/job_rows.h"
#include "platform/store/memory/undo_log.h"
#include "platform/store/store.h"

namespace weft::store::memory {

class MoneyRows {
 public:
  MoneyRows(UndoLog& undo, JobRows& jobs) : undo_(undo), jobs_(jobs) {}

  // invalid_argument if its entries do not sum to 0, not_found for an unknown job, already_exists
  // for a known key, insufficient_funds if an account would hold less than nothing.
  [[nodiscard]] Result<> write(const Transaction& transaction);

  void load(Loaded& loaded) const;
  // invalid_argument for a page that does not exist.
  [[nodiscard]] Result<History> history(const ledger::Account& account,
                                        const Store::HistoryPage& page) const;
  [[nodiscard]] History history(const JobId& job, const Store::HistoryPage& page) const;
  [[nodiscard]] History history(const Store::HistoryPage& page) const;
  // data_loss for an account that does not hold what its transactions sum to.
  [[nodiscard]] Result<> audit() const;

 private:
  // All transactions, with what each did to its accounts.
  [[nodiscard]] std::vector<Posted> posted() const;

  UndoLog& undo_;
  JobRows& jobs_;
  std::vector<Transaction> transactions_;
  std::set<std::string> keys_;
  std::map<ledger::Account, MicroCredits> balances_;
};

}  // namespace weft::store::memory
