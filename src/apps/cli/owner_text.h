// The output of `weft wallet statement`, `weft device` and `weft pay`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/protocol/api.h"

namespace weft::cli {

// An owner's account in a statement, with the name that the statement gives it.
struct StatementAccount {
  std::string_view kind;  // Kind of the account: "owner", "granted".
  std::string_view name;  // Name in the statement: "free", "granted".
};
[[nodiscard]] std::span<const StatementAccount> statement_accounts();

// A change of the balance of one of the owner's accounts.
struct StatementLine {
  std::int64_t time = 0;  // Milliseconds since 1970.
  std::string account;    // "free", "granted", "held", "held granted", "staked".
  MicroCredits amount = 0;
  MicroCredits balance = 0;  // The account's balance after the movement.
  std::string what;
  std::string job;  // Empty: the movement is of no job.
  std::string key;  // Key of the transaction.
};
struct Statement {
  std::string owner;
  std::vector<StatementLine> lines;
};

// `histories` has one history for each of statement_accounts(), in that order. The lines are oldest
// first; lines of one millisecond are in the order of the accounts. Fails with data_loss if the
// balances of an account do not follow from its amounts.
[[nodiscard]] Result<Statement> make_statement(
    const std::string& owner, std::span<const protocol::api::LedgerAccount> histories);

// Formats RFC 4180: a header line, a line for each movement, CRLF; amounts in credits with six
// decimals, times in UTC. Texts that a spreadsheet would take for a formula begin with an
// apostrophe.
[[nodiscard]] std::string statement_csv(const Statement& statement);
// Returns { "owner", "lines": [{ "time", "account", "amount", "balance", "what", "job", "key" }] }.
[[nodiscard]] std::string statement_json(const Statement& statement);
[[nodiscard]] std::string statement_text(const Statement& statement);

// Returns the owner's balances and devices as text.
[[nodiscard]] std::string owner_text(const protocol::api::Owner& owner);

}  // namespace weft::cli
