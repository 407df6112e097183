// Transactions in memory and the balances that follow from them.
//
// Not safe to share between threads. A page of a history is identified by the position of its first
// transaction, from 1.
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

  // Fails with invalid_argument if the entries do not sum to 0, not_found for an unknown job,
  // already_exists for a known key, and insufficient_funds if a balance would be negative.
  [[nodiscard]] Result<> write(const Transaction& transaction);

  void load(Loaded& loaded) const;
  // Fails with invalid_argument for a page that does not exist.
  [[nodiscard]] Result<History> history(const ledger::Account& account,
                                        const Store::HistoryPage& page) const;
  [[nodiscard]] History history(const JobId& job, const Store::HistoryPage& page) const;
  [[nodiscard]] History history(const Store::HistoryPage& page) const;
  // Fails with data_loss if an account's balance is not the sum of its transactions.
  [[nodiscard]] Result<> audit() const;

 private:
  // Returns all transactions, each with its changes of accounts.
  [[nodiscard]] std::vector<Posted> posted() const;

  UndoLog& undo_;
  JobRows& jobs_;
  std::vector<Transaction> transactions_;
  std::set<std::string> keys_;
  std::map<ledger::Account, MicroCredits> balances_;
};

}  // namespace weft::store::memory
