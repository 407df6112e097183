// `weft ledger`: who holds what at a coordinator, and the trail of transactions that it came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct LedgerOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::string account;           // Its history, newest first; neither: totals, or all.
  std::string job;               // Its history, oldest first.
  std::filesystem::path wallet;  // The asker's; empty: the default one. Or
  std::filesystem::path data;    // the coordinator's folder: the operator.
  std::uint64_t limit = 50;      // Transactions at most; 0: all.
  bool json = false;
};

// Checks what it is told: every transaction must sum to zero and every balance follow from the one
// before it. Exit code 1 where that is not so.
[[nodiscard]] int ledger_command(const LedgerOptions& options);

}  // namespace weft::cli
