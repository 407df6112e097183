// The ledger as a person reads it, and whether it adds up.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/protocol/api.h"

namespace weft::cli {

// Amounts in credits, a line for each account, their sum below.
[[nodiscard]] std::string ledger_text(const protocol::api::Ledger& ledger);
// A line for each transaction, newest first, with what the account held after it.
[[nodiscard]] std::string ledger_text(const protocol::api::LedgerAccount& account);
// Every transaction of a job with all that it moved, oldest first, then where its budget went.
[[nodiscard]] std::string ledger_text(const protocol::api::LedgerJob& job);

// data_loss with the first thing that does not add up. What is shown may be a part of the whole.
[[nodiscard]] Result<> check_ledger(const protocol::api::Ledger& ledger);
[[nodiscard]] Result<> check_ledger(const protocol::api::LedgerAccount& account);
[[nodiscard]] Result<> check_ledger(const protocol::api::LedgerJob& job);

}  // namespace weft::cli
