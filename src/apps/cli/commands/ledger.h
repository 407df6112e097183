// `weft ledger`: prints the balances at a coordinator and the transactions behind them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct LedgerOptions {
  std::string coordinator;
  net::TlsOptions tls;
  // Account whose history is printed, newest first. Without account and job: totals, or all
  // accounts.
  std::string account;
  std::string job;               // Job whose history is printed, oldest first.
  std::filesystem::path wallet;  // Wallet of the user; empty: the default one.
  std::filesystem::path data;    // Data folder of the coordinator, if its operator asks.
  std::uint64_t limit = 50;      // Maximum number of transactions; 0: all.
  bool json = false;
};

// Prints the ledger and checks it: every transaction must sum to zero, and every balance must
// follow from the balance before it. Returns exit code 1 if the check fails.
[[nodiscard]] int ledger_command(const LedgerOptions& options);

}  // namespace weft::cli
