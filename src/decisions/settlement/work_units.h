// Compute units of verified work by owner, counted from the ledger's transactions. Emission is
// shared in proportion to them (epoch_rows.h).
//
// Work counts when it is paid and the pay is free, not while the pay is held. It counts only as far
// as it was paid with free credits, so that wallets that are granted credits cannot turn them into
// units. Payments of an owner to itself count nothing. A task's units are those that priced its
// job; a token of an answer has the units of its price, one unit for a credit (docs/pricing.md).
// Owners that pay each other make units at the cost of the fee and the verification. Their units
// only dilute those of others: they never raise the emission.
//
// Pure. Threading: one thread at a time. Memory: a number for each owner, and a row for each answer
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
  MicroCredits price = 0;  // price and units are of all tasks of the job together.
  double units = 0;
};
// True if counting a transaction with this key needs the job that it belongs to.
[[nodiscard]] bool counts_work_of_job(std::string_view key);

class WorkUnits {
 public:
  // Counts a transaction of the audit trail: each once, in order. `job` is needed if
  // counts_work_of_job(); without it nothing is counted.
  void add(std::string_view key, std::span<const ledger::Entry> entries,
           const std::optional<PaidJob>& job);

  // Millionths of compute units since the start; 0 for an owner that never worked.
  [[nodiscard]] std::uint64_t of(const OwnerId& owner) const;

 private:
  std::unordered_map<OwnerId, std::uint64_t> units_;
  // The owner that asked for each answer, by the answer's id.
  std::unordered_map<std::string, OwnerId> askers_;
};

}  // namespace weft::settlement
