// Compute units of verified work, by owner, counted out of the ledger's transactions: what emission
// is shared by (epoch_rows.h).
//
// Work counts when it is paid for and the pay is free: not while it is held, and only as far as it
// was paid with free credits, so that wallets that are granted credits make no units of them. What
// an owner pays itself counts nothing. A task's units are those that priced its job; a token of an
// answer has the units of its price, one for a credit (docs/pricing.md). Owners that pay each other
// make units for what the fee and the verification take of it: units dilute, they never raise what
// is emitted.
//
// Pure. Threading: one thread at a time. Memory: a number for each owner, a row for each answer
// that has begun and not ended.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/ids.h"
#include "common/records/transaction.h"

namespace weft::settlement {

// The job that a transaction belongs to.
struct PaidJob {
  OwnerId client;
  MicroCredits price = 0;  // Both for all its tasks together.
  double units = 0;
};
// What to read of a job before a transaction with this key is counted: whether it needs one.
[[nodiscard]] bool counts_work_of_job(std::string_view key);

class WorkUnits {
 public:
  // A transaction of the audit trail, each once and in their order. `job` where
  // counts_work_of_job(); without one nothing is counted.
  void add(std::string_view key, std::span<const ledger::Entry> entries,
           const std::optional<PaidJob>& job);

  // Millionths of compute units since the start; 0 for an owner that never worked.
  [[nodiscard]] std::uint64_t of(const OwnerId& owner) const;

 private:
  std::unordered_map<OwnerId, std::uint64_t> units_;
  std::unordered_map<std::string, OwnerId> askers_;  // Owners that asked, by the answer's id.
};

}  // namespace weft::settlement
