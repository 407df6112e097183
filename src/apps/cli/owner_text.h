// What `weft wallet statement`, `weft device` and `weft pay` print.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/protocol/api.h"

namespace weft::cli {

// The accounts of an owner that a statement is of, with what they are called there.
struct StatementAccount {
  std::string_view kind;  // As accounts are named: "owner", "granted".
  std::string_view name;  // In a statement: "free", "granted".
};
[[nodiscard]] std::span<const StatementAccount> statement_accounts();

// One movement on one account of the owner.
struct StatementLine {
  std::int64_t time = 0;  // Milliseconds since 1970.
  std::string account;    // "free", "granted", "held", "held granted", "staked".
  MicroCredits amount = 0;
  MicroCredits balance = 0;  // What that account holds then.
  std::string what;
  std::string job;  // Empty: of none.
  std::string key;  // The transaction's.
};
struct Statement {
  std::string owner;
  std::vector<StatementLine> lines;
};

// `histories`: one for each of statement_accounts(), in that order. Oldest first; lines of one
// millisecond stand in the order of the accounts. data_loss if the balances of an account do not
// follow from its amounts.
[[nodiscard]] Result<Statement> make_statement(
    const std::string& owner, std::span<const protocol::api::LedgerAccount> histories);

// RFC 4180: a head, a line each, CRLF; amounts in credits with six decimals, times in UTC. Texts
// that a spreadsheet would take for a formula begin with an apostrophe.
[[nodiscard]] std::string statement_csv(const Statement& statement);
// { "owner", "lines": [{ "time", "account", "amount", "balance", "what", "job", "key" }] }
[[nodiscard]] std::string statement_json(const Statement& statement);
[[nodiscard]] std::string statement_text(const Statement& statement);

// Balances and devices.
[[nodiscard]] std::string owner_text(const protocol::api::Owner& owner);

}  // namespace weft::cli
