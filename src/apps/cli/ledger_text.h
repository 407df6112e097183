// Prints the ledger as text, and checks that it adds up.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/protocol/api.h"

namespace weft::cli {

// Returns a line with the balance in credits for each account, and their sum below.
[[nodiscard]] std::string ledger_text(const protocol::api::Ledger& ledger);
// Returns a line for each transaction, newest first, with the account's balance after it.
[[nodiscard]] std::string ledger_text(const protocol::api::LedgerAccount& account);
// Returns every transaction of a job with all its movements, oldest first, and then the use of the
// job's budget.
[[nodiscard]] std::string ledger_text(const protocol::api::LedgerJob& job);

// Fails with data_loss, and names the first inconsistency. The ledger may be a part of the whole.
[[nodiscard]] Result<> check_ledger(const protocol::api::Ledger& ledger);
[[nodiscard]] Result<> check_ledger(const protocol::api::LedgerAccount& account);
[[nodiscard]] Result<> check_ledger(const protocol::api::LedgerJob& job);

}  // namespace weft::cli
